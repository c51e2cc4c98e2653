#!/bin/sh
# pictures.sh: makes the pictures in docs/pictures: the report page of results/nvidia-h200, 1280
# and 400 pixels wide, and the table that this machine's ./scanbench shows in a terminal of 80
# columns. On white. Needs what `sh scripts/install-deps.sh pictures` installs.
set -eu
here=$(dirname "$0")
case " $* " in *" --help "*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
# The first python3 on PATH may lack Debian's modules.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import selenium' 2>/dev/null; then
        exec "$python" -B "$here/pictures.py"
    fi
done
echo "pictures.sh: selenium is missing; on Debian and Ubuntu: sh scripts/install-deps.sh pictures" >&2
exit 1
