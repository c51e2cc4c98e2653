#!/bin/sh
# report.sh --output=PAGE.html FILE...: builds one page from CSV files of scanbench, with
# interactive charts and a table of the rows. The page is self-contained: no network, no
# other file. A folder stands for the CSV files in it.
#
# The page is put together from the files in report/. D3 (report/vendor) gives it scales, axes
# and selections; what a chart looks like is in report/chart.js.
set -eu
case " $* " in *" --help "*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
exec python3 -B "$(dirname "$0")/report.py" "$@"
