#!/bin/sh
# figures.sh [--output=FOLDER]: draws the figures of docs/algorithms.md as SVG, into docs/pictures or
# the folder. Each is what the page of --trace draws of a run in the emulator, so they are the same
# on every machine. A test compares them.
# Needs what `sh scripts/install-deps.sh pictures` installs.
set -eu
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python 'selenium' figures "$@"
