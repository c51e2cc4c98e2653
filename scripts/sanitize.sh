#!/bin/sh
# sanitize.sh [TOOL...]: runs all our GPU algorithms under compute-sanitizer.
# Needs a GPU. Tools: memcheck racecheck initcheck synccheck; default: all.
# Exits with 1 if a tool found an error or a result was wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
scanbench=${SCANBENCH:-./scanbench}
[ $# -gt 0 ] || set -- memcheck racecheck initcheck synccheck
status=0

# check TOOL FLAG...: runs once; prints how many rows passed and how many errors there were. A tool
# stretches times, an empty kernel's perhaps more than others': rows that fail for that are passed here.
check() {
    tool=$1
    shift
    log=$(mktemp)
    code=0
    compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 \
        "$scanbench" --device=gpu --algo=own --samples=1 --quiet --format=csv \
        --columns=check,algo,type,kind,n,block,reason "$@" >"$log" 2>&1 || code=$?
    wrong=$(grep '^failed,' "$log" | grep -vc ',impossible: .*an empty kernel takes longer')
    if grep -q '^passed,' "$log" && [ "$wrong" -eq 0 ] && { [ "$code" -eq 0 ] || [ "$code" -eq 3 ]; }; then
        echo "$tool $*: $(grep -c '^passed,' "$log") rows passed, no errors"
    else
        echo "$tool $*: FAILED"
        grep -v '^passed,' "$log" | tail -n 20
        status=1
    fi
    rm -f "$log"
}

for tool; do
    check "$tool" --n=0,1,31,33,1000,4097,70001 --block=32,256,1024 --kind=exclusive,inclusive
    check "$tool" --n=5000 --block=auto --type=u32,i64,u64,f32,f64 --kind=exclusive,inclusive
    check "$tool" --n=2^20-3 --block=auto --cache=hot
    # A few tiles per block, more than it has stages; the last tile is partial.
    check "$tool" --op=scan,compact --algo=lookahead --n=1200001,6300001 --type=i32,u64
    # Narrow elements are held in words, and bytes are stored so; also those of parked rows.
    check "$tool" --op=compact --algo=lookahead,lookback --n=70001,1200001 --type=u8,f16
    check "$tool" --op=compact --algo=one-wave --n=70001,12000001 --type=i16 --block=1024
    # Five to seven rows.
    check "$tool" --op=scan,compact --algo=one-wave --n=2500001,3000001,3500001
    # One block, a cluster of few, and one of as many as there can be.
    check "$tool" --op=scan,compact --algo=cluster --n=100,5003,16001,60001 --type=u8,i32,u64 --block=64,512
    # Segments: short rows, for which blocks do not wait for each other, and others.
    check "$tool" --op=scan --algo=one-wave,cluster,lookahead,lookback --segments=rows:100,rows:5000,offsets:64,offsets:2,keys:64 --n=1000,50003 --type=i32,f32
    check "$tool" --op=reduce --algo=single-pass --segments=rows:100,rows:30000,offsets:64,offsets:2000 --n=1000,100003
    check "$tool" --op=compact --keep=0.75 --n=0,1,33,4097 --block=32,256,1024
    check "$tool" --op=compact --keep=0.01 --n=70001 --block=auto
    check "$tool" --op=compact --keep=1 --n=70001 --block=auto
    check "$tool" --op=compact --n=1000 --block=auto --type=u32,i64,u64,f32,f64
    # A maximum of 7 gives three bits and so three passes; special has all bits.
    check "$tool" --op=sort --max=7 --n=0,1,33,4097 --block=32,1024
    check "$tool" --op=sort --max=7 --n=70001 --block=auto
    check "$tool" --op=sort --input=special --n=100 --block=auto --type=i32,f64
    check "$tool" --op=sort --max=7 --values=u32,u64 --n=33,4097,25001 --block=auto
    # Partitions and leaves, and what is left to onesweep.
    check "$tool" --op=sort --algo=stable-msd --values=u32,u64 --input=uniform,few --n=1025,100003 --type=u32,i64 --max=2^31-1
    # In one block, in windows or else by merging, and in several launches.
    check "$tool" --op=sort --algo=stable-msd --values=u32,u64 --input=zipf --n=5003 --type=u32 --max=2^31-1
    check "$tool" --op=sort --algo=counting --max=2^15-1 --n=33,5003,20011,40009 --type=i16 --input=uniform,zipf
    check "$tool" --op=sort --algo=counting --max=127 --n=33,5003,20011 --type=i8
    check "$tool" --op=sort --algo=one-block --max=2^31-1 --values=none,u32,u64 --n=33,5003 --type=u32,f64
    check "$tool" --op=sort --algo=enumeration --max=2^31-1 --values=none,u32,u64 --n=33,1025,10007 --type=u32,f64
    check "$tool" --op=sort --algo=enumeration --max=2^15-1 --n=33,5003 --type=i16
    check "$tool" --op=sort --algo=sample,adaptive --max=2^31-1 --n=25001 --type=u32,f64
    check "$tool" --op=sort --algo=onesweep,msd,sample,adaptive --input=zipf --max=2^31-1 --n=25001 --type=u32,u64
    # All levels in one launch; one level and two of large arrays, and skewed keys.
    check "$tool" --op=sort --algo=msd --max=2^32-1 --n=400001,600001,17000001 --type=u32
    check "$tool" --op=sort --algo=msd --max=2^32-1 --n=600001 --type=u32 --input=and-4
    check "$tool" --op=sort --algo=msd --max=2^23 --n=1200001 --type=f32 --input=uniform,normal
    # Keys of few values, in one launch and in several.
    check "$tool" --op=sort --algo=msd,adaptive --input=few,special --max=2^31-1 --n=100003,1700003 --type=u32,f64
done
exit $status
