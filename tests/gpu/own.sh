#!/bin/sh
# own.sh SCANBENCH: runs sources of tests/own/right on a GPU beside CUB, and wrong ones. Exits with 1
# if a right one does not pass everywhere, or a wrong one passes. Needs a GPU and nvcc.
set -eu
export LC_ALL=C

scanbench=$1
cd "$(dirname "$0")/../own"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
bad=0

# right FILE FLAG...: every row must have passed; what the file says it cannot do is not asked for.
right() {
    file=$1
    shift
    "$scanbench" --device=gpu --strict --quiet --algo="$file,cub,memcpy" --format=csv \
        --columns=op,algo,type,kind,n,block,queued,time_ms,memcpy_pct,launches,check,reason "$@" 2>"$folder/errors" ||
        { echo "own.sh: $file: exit $?; it must pass" >&2 && cat "$folder/errors" >&2 && bad=1; }
}

# wrong FILE FLAG...: some row must have failed.
wrong() {
    file=$1
    shift
    code=0
    "$scanbench" --device=gpu --quiet --algo="$file" --format=csv --columns=algo,n,check,reason "$@" \
        2>"$folder/errors" || code=$?
    [ "$code" -eq 3 ] || { echo "own.sh: $file: exit $code; it must fail its check" >&2 && bad=1; }
}

right right/warp.cu --n=2^12..2^28*16 --npot --type=i32,u64 --kind=exclusive,inclusive --block=64,256
right right/warp.cu --n=2^20 --cache=hot
right right/lookback.cu --op=scan,compact --n=2^12..2^24*16 --npot
right right/blelloch.cu --n=2^12..2^24*16 --npot --type=i32,f32
right right/planes.cu --n=1000,2^16 --type=u32
right right/groups.cu --op=scan,reduce --n=2^12..2^20*16
right right/radix.cu --op=sort --n=1000,2^16 --type=u32
right "right/course dir/it's efficient.cu" --op=scan,compact --n=2^12..2^24*16 --npot
right ../../examples/my_scan.cu --n=2^12..2^20*4 --npot

# Each launch has a row with its name and its time.
launches=$("$scanbench" --device=gpu --quiet --algo=right/blelloch.cu --n=1000 --kernels --format=csv \
    --columns=kernel,time_ms,occupancy_pct | sed -n 's/^\(scanTile\|addSums\),0\.[0-9]*,[1-9].*/\1/p' | paste -sd,)
[ "$launches" = scanTile,scanTile,addSums ] ||
    { echo "own.sh: right/blelloch.cu --kernels: wanted scanTile,scanTile,addSums, got $launches" >&2 && bad=1; }

wrong wrong/one_tile_off.cu --n=1000
wrong wrong/large_only.cu --n=1024,2000
wrong wrong/count.cu --n=1000 --op=compact
wrong wrong/input_changed.cu --n=1000
exit $bad
