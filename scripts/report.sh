#!/bin/sh
# report.sh --output=PAGE.html FILE...: builds one page from CSV files of scanbench, with
# interactive charts and a table of the rows. The page is self-contained: no network, no
# other file. A folder stands for the CSV files in it.
#
# The page is put together from the files in report/. D3 (report/vendor) gives it scales, axes
# and selections; what a chart looks like is in report/chart.js.
set -eu
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python '' report "$@"
