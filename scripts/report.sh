#!/bin/sh
# report.sh --output=PAGE.html FILE...: one page of CSV files of scanbench, with charts
# to point at and to choose from, and a table of the rows. The page needs nothing
# beside itself: no network, no other file. A folder stands for the CSV files in it.
#
# The charts are by Apache ECharts (report/vendor): hover, logarithmic axes and labels
# at the lines' ends are there, and it is kept up by many; uPlot, a tenth of the size,
# leaves the first and the last to who uses it.
set -eu
case " $* " in *" --help "*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
exec python3 -B "$(dirname "$0")/report.py" "$@"
