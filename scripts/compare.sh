#!/bin/sh
# compare.sh [FLAG...] OLD.csv NEW.csv: compares two runs, configuration by configuration.
#
#   --fail-slower[=PERCENT]  exit 5 if a configuration is slower, by more than PERCENT, and 1 if the
#                            new file has no time for one that the old file has
#   --same=PERCENT           a change that is certainly below PERCENT is none; default 0.5
#   --help                   print this help
#
# Each line has the times, the ratio new/old, how far that may be off, and what it says: slower,
# faster, same, or undecided. The slowest change comes first, and at the end, for each algorithm,
# the geometric mean over the sizes. Rows that did not pass are named on stderr; the exit code is 3
# if a result of the new file is wrong.
#
# Of the emulator, whose times say nothing about a GPU, the counts that both files have (--counts) are
# compared, and those that differ are listed.
#
# The files are those of --output, or of --samples-file, and hold one run or several: repeat
# with --append. With six runs on each side, runs are compared by a rank test, which finds
# changes as small as the runs agree, and has a 99.5 % confidence interval. With fewer, nothing says
# how much runs differ from each other: a change is undecided up to what processes of one build were
# seen to differ by at that n (docs/comparing.md has the table), plus the noise of both.
set -eu
# shellcheck source=scripts/with-python.sh
. "$(dirname "$0")/with-python.sh"
run_python scipy compare "$@"
