#!/bin/sh
# block-sweep.sh [FLAG...]: measures our GPU algorithms with blocks of 32 to 1024
# threads, into results/local/DEVICE/scan-block.csv.
#
#   --op=LIST       operations; default: scan
#   --n=SIZES       default: 2^20,2^24,2^28
#   --block=SIZES   default: 32..1024
#   --algo=LIST     default: own
#
# and the other flags of scripts/sweep.sh, which this script calls. Without a GPU, use
# --device=emulator: it shows that every block size works, but not how fast.
#
# Run an interrupted sweep again, and it continues where it stopped.
set -eu
case " $* " in *" --help "*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
# If a flag is given twice, the last value counts.
exec "$(dirname "$0")/sweep.sh" --op=scan --n=2^20,2^24,2^28 --device=gpu --name=block \
    --algo=own --block=32..1024 "$@"
