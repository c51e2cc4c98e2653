#!/bin/sh
# plot.sh [--output=FOLDER] [--only=NAME,...] FILE...: draws the CSV files of scanbench,
# each chart as SVG and as PNG, into plots/ beside the first file, or into FOLDER. --only
# draws the pictures of these names and no others.
#
# The contents of a file decide its charts: time and each of the counts (--counts) against array
# size, or against block size if an algorithm has three; GB/s and speedup over Thrust and CUB
# against array size; efficiency against the number of GPUs (--gpus); each launch's share of the
# time (--kernels); and from all files together the GPU with copies (--copies) against the CPU. Times
# of the emulator say nothing about a GPU and are not drawn, but its counts are. A folder stands for
# the CSV files in it. The drawing is done by plot.py.
#
# A chart has at most eight lines: the algorithms that scripts/charts.csv lists for it, most
# important first, then auto, cub and memcpy, then those that are best at their largest size.
# The others are named below it. Where charts.csv says `from`, the picture is an excerpt of
# that one, with the listed algorithms alone.
#
# Why matplotlib and not gnuplot: labels beside lines must not touch, which takes
# arithmetic that a gnuplot script cannot express.
set -eu
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python matplotlib plots "$@"
