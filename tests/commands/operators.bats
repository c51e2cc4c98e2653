#!/usr/bin/env bats
# operators: --operator and --segments: what takes them passes, and what does not says why.

# setup() of helpers sets variables; each test sets its own.
# shellcheck disable=SC2154
load helpers

AWKWARD=0,1,31,32,33,1000,5003

# no_failures FLAG...: every row passed or was skipped, and some passed.
no_failures() {
    rm -f "$rows"
    quick --n=$AWKWARD --format=csv --output="$rows" --columns=check,op,algo,type,operator,kind,segments,n,reason,values "$@"
    ! grep -vE '^(check|passed|skipped),' "$rows"
    grep -q '^passed,' "$rows"
}

@test "operators: all own algorithms combine by max, min and xor" {
    no_failures --algo=own --op=scan,reduce --operator=max,min,xor --type=i32,u64,f32
    # The emulator has them for i32 as well.
    local algo
    for algo in naive efficient-smem lookback single-pass serial simd parallel; do
        grep -q "^passed,[a-z]*,$algo,i32,max," "$rows"
    done
}

@test "operators: recurrences of all types, of both kinds" {
    no_failures --algo=own --operator=recurrence --kind=exclusive,inclusive \
        --type=i32,u32,i64,u64,f32,f64
    local type
    for type in i32 u32 i64 u64 f32 f64; do
        grep -q "^passed,scan,serial,$type,recurrence,exclusive,none,5003" "$rows"
        grep -q "^passed,scan,serial,$type,recurrence,inclusive,none,5003" "$rows"
    done
    # The product of many a is 0 unless they are odd, and nothing is then carried from one block to the next.
    no_failures --algo=own --operator=recurrence --type=i32,u32,u64 --input=ones --threads=3 --n=5003,300001 --device=cpu
    no_failures --algo=own --operator=recurrence --type=i32,u32 --input=ones --n=5003,40001 --device=emulator
    # With negative a and b, and with few values.
    no_failures --algo=serial --operator=recurrence --type=i32,f32,f64 --input=signed,few --max=7
}

@test "operators: scans of segments" {
    no_failures --algo=own --kind=exclusive,inclusive --type=i32,f64 \
        --segments=rows:1,rows:100,rows:1e6,offsets:33,offsets:33:skewed,keys:33,keys:33:skewed
    local algo form
    for algo in serial simd parallel; do
        for form in rows:100 offsets:33 offsets:33:skewed keys:33 keys:33:skewed; do
            grep -q "^passed,scan,$algo,f64,sum,inclusive,$form,5003" "$rows"
        done
    done
    for algo in segmented lookback one-wave cluster lookahead; do
        for form in rows:100 offsets:33 offsets:33:skewed keys:33 keys:33:skewed; do
            grep -q "^passed,scan,$algo,i32,sum,exclusive,$form,1000" "$rows"
        done
    done
}

@test "operators: reductions of segments, on several threads" {
    no_failures --algo=own,std --op=reduce --type=u8,i32,f64 --threads=1,3 \
        --segments=rows:1,rows:100,rows:4000,offsets:33,offsets:1:skewed,offsets:2500,keys:33
    grep -q '^passed,reduce,single-pass,u8,sum,,rows:4000,5003' "$rows"
    grep -q '^passed,reduce,single-pass,f64,sum,,offsets:2500,5003' "$rows"
    grep -q '^passed,reduce,std,u8,sum,,offsets:33,5003' "$rows"
    grep -q '^skipped,reduce,serial,i32,sum,,keys:33,5003,.*by keys are scanned only' "$rows"
}

@test "operators: segments by every operator on the CPU, on several threads" {
    long_test
    no_failures --algo=serial,simd,parallel,libscanbench --op=scan,reduce --device=cpu --threads=1,3 --type=u8,i32,f64 \
        --operator=max,min,xor,recurrence --n=1,5003,200001 \
        --segments=rows:1,rows:100,rows:1e6,offsets:33,offsets:33:skewed,keys:33
    local algo operator
    for algo in serial simd parallel; do
        for operator in max min xor; do
            grep -q "^passed,scan,$algo,i32,$operator,exclusive,keys:33,200001" "$rows"
            grep -q "^passed,reduce,$algo,i32,$operator,,offsets:33,200001" "$rows"
        done
    done
    for algo in serial parallel; do
        grep -q "^passed,scan,$algo,f64,recurrence,exclusive,rows:100,200001" "$rows"
    done
}

@test "operators: the library, on the CPU and in the emulator" {
    no_failures --algo=libscanbench --device=cpu,emulator --kind=exclusive,inclusive --type=i32,f64 \
        --operator=sum,max,min,xor,recurrence --segments=none,rows:1,rows:100 --columns=check,device,type,operator,kind,segments,n
    grep -q '^passed,emulator,i32,sum,exclusive,rows:100,5003' "$rows"
    grep -q '^passed,emulator,f64,max,inclusive,none,5003' "$rows"
    grep -q '^passed,emulator,i32,recurrence,inclusive,none,5003' "$rows"
    grep -q '^passed,cpu,f64,recurrence,inclusive,rows:100,5003' "$rows"
}

@test "operators: a second input is counted in the bytes" {
    local bytes='quick --algo=serial --n=1000 --format=csv --columns=bytes'
    [ "$($bytes --operator=recurrence --type=f32 | tail -n 1)" = 12000 ]
    [ "$($bytes --segments=rows:10 | tail -n 1)" = 8000 ]
    [ "$($bytes --segments=offsets:10 | tail -n 1)" = 8808 ]
    [ "$($bytes --segments=keys:10 | tail -n 1)" = 12000 ]
    [ "$($bytes --op=reduce --segments=rows:10 | tail -n 1)" = 4400 ]
    # A copy has no second input.
    [ "$(quick --algo=memcpy --device=cpu --n=1000 --segments=keys:10 --format=csv --columns=bytes |
        tail -n 1)" = 8000 ]
}

@test "operators: what cannot be combined has a row that says why" {
    run quick --algo=lookback --n=10 --operator=max --segments=rows:5 --format=csv --columns=check,reason
    has "$output" 'skipped,segments are summed only'
    run quick --algo=serial --n=10 --operator=recurrence --segments=keys:5 --format=csv --columns=check,reason
    has "$output" 'skipped,a recurrence has its second array to itself'
    run quick --algo=libscanbench --device=cpu --n=10 --operator=max --segments=offsets:5 --format=csv --columns=check,reason
    has "$output" 'skipped,the library takes segments by rows only'
    run quick --algo=naive --n=10 --segments=rows:5 --format=csv --columns=check,reason
    has "$output" 'skipped,takes no segments'
    run quick --algo=serial --n=10 --operator=recurrence --type=f32 --input=ones --format=csv \
        --columns=check,reason
    has "$output" 'skipped,a recurrence of such floats'
    run quick --algo=slices --gpus=2 --device=emulator --n=100 --operator=recurrence --format=csv \
        --columns=check,reason
    has "$output" 'skipped,several devices do not share a recurrence'
}

@test "operators: bad values name the flag and what would be right" {
    fails 2 --operator=product
    has "$stderr" --operator=product max recurrence
    fails 2 --op=reduce --operator=recurrence
    has "$stderr" --operator=recurrence --op=scan
    fails 2 --operator=xor --type=f32
    has "$stderr" --type=f32
    fails 2 --segments=columns:7
    has "$stderr" --segments=columns:7 rows:L
    fails 2 --segments=rows:0
    has "$stderr" --segments=rows:0 2^40
    fails 2 --op=sort --segments=rows:7
    has "$stderr" --segments=rows:7 --op=scan
}

@test "operators: rows are told apart by their segments" {
    quick --algo=serial --n=100 --segments=rows:10 --output="$rows"
    [ "$(read_csv "$rows" operator segments)" = $'sum\trows:10' ]
    quick --algo=serial --n=100 --segments=rows:10,keys:10 --resume --output="$rows"
    [ "$(read_csv "$rows" segments)" = $'rows:10\nkeys:10' ]
    # A file of earlier versions has rows without segments.
    sed -E 's/,segments(,line,values)$/\1/; s/,rows:10(,,none)$/\1/; /keys:10/d' "$rows" >"$rows.old"
    run "$scanbench" --algo=serial --n=100 --segments=rows:10 --resume --output="$rows.old" --samples=1
    [ "$status" -eq 2 ]
}

@test "operators: --dry-run names operators and segments" {
    run "$scanbench" --dry-run --algo=serial --n=100 --operator=sum,max --segments=none,keys:7
    has "$output" operator=max segments=keys:7
}

@test "operators: --show shows the second input" {
    run --separate-stderr quick --algo=serial --n=4 --segments=offsets:2 --show=9 --input=ones --inclusive
    has "$output$stderr" second
}
