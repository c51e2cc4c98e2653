#!/bin/sh
# pictures.sh [--anyway=FOLDER] [--wait=SECONDS]: takes what the pages show of the program.
#   - The transcripts of README.md and docs/*.md: the command after `$ ` in each console block that
#     begins with `$ ./scanbench` runs in a terminal of 80 columns, and the block shows what that shows.
#   - The pictures in docs/pictures, on white: the report page of results/nvidia-h200, 1280 and 400
#     pixels wide, a chart of plot.sh, and a table in a terminal of 80 columns.
#   - docs/pictures/taken.txt: the commit they were taken from, and their SHA-256. A test compares.
# Refuses if the tree or the program differs from the last commit, or if the load is above 0.5 per
# processor: a build may just have ended, so it waits for that, by default 180 seconds. A table in
# which a row is marked ! is taken again, at most five times.
# --anyway tries it out: whatever the tree, the load and the noise, the files go to FOLDER.
# Needs what `sh scripts/install-deps.sh pictures` installs.
set -eu
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python 'selenium PIL' pictures "$@"
