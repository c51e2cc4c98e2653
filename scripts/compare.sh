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
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python scipy compare "$@"
