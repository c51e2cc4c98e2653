#!/bin/sh
# block-sweep.sh [FLAG...]: measures our GPU algorithms with blocks of 32 to 1024
# threads, into results/DEVICE/scan-block.csv.
#
#   --op=LIST       operations; default: scan
#   --n=SIZES       default: 2^20,2^24,2^28
#   --block=SIZES   default: 32..1024
#   --algo=LIST     default: own
#
# and the other flags of scripts/sweep.sh, which it is a shorthand for. Without a GPU
# say --device=emulator: it shows that every block size works, not how fast.
#
# A sweep that was interrupted, started again, goes on where it was.
set -eu
case " $* " in *" --help "*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
# Of two values of a flag the last counts.
exec "$(dirname "$0")/sweep.sh" --op=scan --n=2^20,2^24,2^28 --device=gpu --name=block \
    --algo=own --block=32..1024 "$@"
