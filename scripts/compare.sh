#!/bin/sh
# compare.sh [FLAG...] OLD.csv NEW.csv: compares two runs, configuration by configuration.
#
#   --fail-slower[=PERCENT]  exit 5 if a configuration is slower, by more than PERCENT
#   --same=PERCENT           a change that is certainly below PERCENT is none; default 0.5
#   --help                   print this help
#
# Each line has the times, the ratio new/old with its 99.5 % confidence interval, and what that
# says: slower, faster, same, or undecided. The slowest change comes first, and at the end,
# for each algorithm, the geometric mean over the sizes.
#
# The files are those of --output, or of --samples-file, and hold one run or several: repeat
# with --append. With six runs on each side, runs are compared by a rank test, which finds
# changes as small as the runs agree. With fewer, nothing says how much runs differ from each
# other, so what --baseline allows for that is allowed here: 2 %, and half a microsecond.
set -eu
here=$(dirname "$0")
case " $* " in *" --help "*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
# The first python3 on PATH may lack Debian's modules.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import scipy' 2>/dev/null; then
        exec "$python" -B "$here/compare.py" "$@"
    fi
done
echo "compare.sh: scipy is missing; on Debian and Ubuntu: sh scripts/install-deps.sh compare" >&2
exit 1
