#!/bin/sh
# pictures.sh: makes the pictures in docs/pictures: the report page of results/nvidia-h200, 1280
# and 400 pixels wide, a chart of plot.sh, and the table that this machine's ./scanbench shows in
# a terminal of 80 columns. On white. Needs what `sh scripts/install-deps.sh pictures` installs.
set -eu
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python 'selenium PIL' pictures "$@"
