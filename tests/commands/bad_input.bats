#!/usr/bin/env bats
# bad_input: every wrong command line ends with exit 2, one line on stderr that
# names flag, value and what would be right, and nothing on stdout.

# shellcheck disable=SC2154 # run --separate-stderr sets stderr_lines
bats_require_minimum_version 1.5.0

setup() {
    scanbench="${SCANBENCH:-./scanbench}"
}

# refuses WANTED... -- ARGUMENT...: expects each WANTED in the line on stderr.
refuses() {
    local wanted=()
    while [ "$1" != -- ]; do
        wanted+=("$1")
        shift
    done
    shift
    run --separate-stderr "$scanbench" "$@"
    echo "exit $status; stdout: $output; stderr: $stderr"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ "$stderr" == "scanbench: "* ]]
    local part
    for part in "${wanted[@]}"; do
        [[ "$stderr" == *"$part"* ]] || {
            echo "not there: $part"
            return 1
        }
    done
}

# accepts ARGUMENT...: expects a plan and nothing on stderr.
accepts() {
    run --separate-stderr "$scanbench" --device=cpu --algo=serial --dry-run "$@"
    echo "exit $status; stderr: $stderr"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "--n: what is not a size" {
    refuses '--n=0x' 'hexadecimal' -- --n=0x
    refuses '--n=0x10' 'hexadecimal' -- --n=0x10
    refuses '--n=abc' 'not a size' '2^20' -- --n=abc
    refuses '--n=' 'needs a size' -- --n=
    refuses '--n=1.5' 'whole number' -- --n=1.5
    refuses '--n=nan' 'not a size' -- --n=nan
    refuses '--n=1 000' 'not a size' -- '--n=1 000'
}

@test "--n: bytes are not elements" {
    refuses '--n=4B' 'elements, not bytes' -- --n=4B
    refuses '--n=64KiB' 'elements, not bytes' -- --n=64KiB
}

@test "--n: too large, negative" {
    refuses '--n=2^99' 'largest size, 2^40' -- --n=2^99
    refuses '--n=2^64' 'largest size' -- --n=2^64
    refuses '--n=1e30' 'largest size' -- --n=1e30
    refuses '--n=18446744073709551617' 'largest size' -- --n=18446744073709551617
    refuses '--n=-5' 'negative' -- --n=-5
    refuses '--n=-5' 'negative' -- --n -5
    refuses '--n=3-5' 'negative' -- --n=3-5
}

@test "--n: ranges that go down or never end" {
    refuses '--n=2^29..2^12' 'goes down' -- --n=2^29..2^12
    refuses '1..10*1' 'never ends' -- '--n=1..10*1'
    refuses '1..10+0' 'never ends' -- --n=1..10+0
    refuses '0..10' 'never ends' -- --n=0..10
    refuses '1..2^30+1' '100000 at most' -- --n=1..2^30+1
    refuses 'not a size' -- --n=1..
}

@test "--n: items of a list" {
    refuses 'empty item' -- --n=1,,2
    refuses 'empty item' -- --n=1,
    refuses '"2^99"' -- --n=2^10,2^99,2^11
}

@test "--n: 0, 1 and every spelling are sizes" {
    accepts --n=0
    accepts --n=1
    accepts --n=1000,2^10,2^10-3,1e3,1.5e3,64Ki,64K,2^4..2^8,2^4..2^8*4,10..100+10
}

@test "--npot" {
    refuses '--npot=3/4' '5/8' '-3' -- --npot=3/4
    refuses '"5/8"' 'joined to it: --npot=5/8' -- --algo=serial --npot 5/8
    refuses '"lines"' 'joined to it: --counts=lines' -- --device=emulator --counts lines
    refuses '--npot=-3' -- --npot -3
    refuses 'contradicts' -- --npot=5/8 --npot=-3
    accepts --npot
    accepts --pot --npot=-3 --n=64
}

@test "--block" {
    refuses '--block=48' '32 to 1024' 'did you mean 64?' -- --block=48
    refuses '--block=33' 'did you mean 32?' -- --block=33
    refuses '"500"' 'did you mean 512?' -- --block=64,500
    refuses '--block=2048' 'did you mean 1024?' -- --block=2048
    refuses '--block=0' '32 to 1024' -- --block=0
    refuses '--block=-32' '32 to 1024' -- --block=-32
    refuses '--block=x' 'auto' -- --block=x
    refuses 'empty item' -- --block=32,
}

@test "--algo: a file without its ending" {
    touch "$BATS_TEST_TMPDIR/my_scan.cu"
    run bash -c 'cd "$1" && "$2" --algo=my_scan' _ "$BATS_TEST_TMPDIR" "$(realpath "$scanbench")"
    [ "$status" -eq 2 ]
    [ "$output" = 'scanbench: --algo=my_scan is not an algorithm; did you mean the file "./my_scan.cu"?' ]
}

@test "--algo: unknown names, with the nearest" {
    refuses '--algo=effcient-smem' 'did you mean "efficient-smem"?' '--list' -- --algo=effcient-smem
    refuses '"naiv"' 'did you mean "naive"?' -- --algo=serial,naiv
    refuses '--algo=zzz*' '--list' -- '--algo=zzz*'
    refuses "no algorithm's name" 'see naive, naive-smem (' -- --op=scan --algo=hillis-steele
    refuses "no algorithm's name" 'see efficient, efficient-smem (' -- --algo=blelloch
    refuses "no algorithm's name" 'see lookback (' -- --algo=decoupled
    refuses '--algo=Serial' 'did you mean "serial"?' -- --algo=Serial
    refuses 'empty item' -- --algo=serial,,naive
    refuses '--algo=' 'needs a value' -- --algo=
}

@test "--algo: where it does not run" {
    refuses '--algo=naive' '--device=cpu' 'it runs on gpu, emulator' -- --algo=naive --device=cpu
    refuses '--algo=serial' 'it runs on cpu' -- --algo=serial --device=emulator
    refuses '--algo=thrust' 'it runs on gpu' -- --algo=thrust --device=emulator
}

@test "words from a closed set, with the nearest" {
    refuses '--op=cmpact' 'did you mean "compact"?' -- --op=cmpact
    refuses '"sorted"' 'did you mean "sort"?' -- --op=scan,sorted
    refuses '--op=scam' 'did you mean "scan"?' -- --op=scam
    refuses '--type=int32' 'did you mean "i32"?' -- --type=int32
    refuses '--type=float' 'f32' -- --type=float
    refuses '--kind=inclusiv' 'did you mean "inclusive"?' -- --kind=inclusiv
    refuses '--input=one' 'did you mean "ones"?' -- --input=one
    refuses '--cache=warm' 'cold, dirty, hot or both' -- --cache=warm
    refuses '--format=cvs' 'did you mean "csv"?' -- --format=cvs
    refuses '--device=emulater' 'did you mean "emulator"?' -- --device=emulater
    refuses '--device=cuda' 'cpu' 'emulator' -- --device=cuda
    refuses '--device=-1' -- --device=-1
}

@test "--keep: what is not a fraction, and where there is none to keep" {
    local value
    for value in 2 1.01 -1 -0.5 x 50% nan inf 0x1 0.5,6 ''; do
        refuses "--keep=$value" -- --op=compact --keep="$value"
    done
    refuses '--keep=2' 'from 0 to 1' -- --op=compact --keep=2
    refuses '--keep=0.5' '--op=compact' -- --op=scan,sort --keep=0.5
    accepts --op=compact --keep=0
    accepts --op=compact --keep=1
    accepts --op=compact --keep=1e-3
    accepts --op=scan,compact --keep=.5
}

@test "--values: from a closed set, and where there are none to move" {
    refuses '--values=u8' 'none, u32 or u64' -- --op=sort --values=u8
    refuses '--values=u32' 'belongs to sort' '--op=sort' -- --values=u32
    refuses '--values=u64' 'belongs to sort' -- --op=compact,reduce --values=u64
}

@test "--kind belongs to scan" {
    refuses '--kind=inclusive' '--op=scan' -- --op=compact --kind=inclusive
    refuses '--inclusive' '--op=scan' -- --op=compact,sort --inclusive
    refuses '--exclusive' '--op=scan' -- --op=sort --exclusive
    accepts --op=scan,sort --kind=inclusive
}

@test "--algo: of another operation" {
    refuses '--algo=serial-scan' '--op=compact' -- --algo=serial-scan
    refuses '--algo=radix' '--op=sort' -- --op=compact --algo=radix
    refuses '--algo=efficient-stitch' 'scan, compact' -- --op=sort --algo=efficient-stitch
    refuses '--algo=radix' 'it runs on cpu' -- --op=sort --algo=radix --device=emulator
}

@test "numbers" {
    refuses '--max=-1' 'negative' -- --max=-1
    refuses '--max=300000000000' 'i32' '2147483647' -- --max=300000000000
    refuses '--max=2^24' 'f32' '8388608' -- --max=2^24 --type=f32
    refuses '--max=2^64' '2^64-1' -- --max=2^64 --type=u64
    refuses '--seed=x' '2^64-1' -- --seed=x
    refuses '--samples=0' 'from 1' -- --samples=0
    refuses '--samples=-1' 'from 1' -- --samples=-1
    refuses '--warmup=1.5' 'from 1' -- --warmup=1.5
    refuses '--show=x' 'from 0' -- --show=x
    refuses '--max-noise=-1' 'percentage' -- --max-noise=-1
    refuses '--max-time=0' 'above 0' -- --max-time=0
    refuses '--min-time=5m' '500ms' -- --min-time=5m
    refuses '--threads=0' 'from 1' -- --threads=0
}

@test "unknown flags, with the nearest" {
    refuses '--blok' 'did you mean --block?' -- --blok=64
    refuses '--zzzzzzzz' '--help' -- --zzzzzzzz
    refuses '-x' '--help' -- -x
    refuses '--ma' '--max or --max-noise or --max-time or --manual' -- --ma=5
}

@test "flags and values by the names that other programs give them" {
    local line
    while read -r line; do
        refuses "unknown flag ${line%% *}" "did you mean ${line##* }?" -- "${line%% *}"
    done <<END
--size --n
--algorithm --algo
--operation --op
--csv --format=csv
--json --format=json
--table --format=table
--markdown --format=markdown
--cpu --device=cpu
--iterations --samples
END
    refuses 'unknown flag --size;' 'did you mean --n?' -- --size=1000
    refuses 'unknown flag --csv;' 'did you mean --output=my.csv?' -- --csv=my.csv
    refuses 'unknown flag --csv;' 'did you mean --format=csv?' -- --csv
    refuses '"000" has leading zeros' '1000000' -- --n=1,000,000
    while read -r line; do
        refuses "${line%% *} is not known" "did you mean \"${line##* }\"?" -- "${line%% *}"
    done <<END
--type=int i32
--type=unsigned u32
--type=long i64
--type=float f32
--type=double f64
--type=size_t u64
--type=byte u8
--op=sum reduce
--op=filter compact
--input=random uniform
--format=md markdown
END
    refuses '"float" is not known' 'did you mean "f32"?' -- --type=i32,float
}

@test "missing and unwanted values" {
    refuses '--n needs a value' '--n=LIST' -- --n
    refuses '--block needs a value' -- -b
    refuses '--algo needs a value' '--n=5 follows' -- --algo --n=5
    refuses '--list takes no value' -- --list=5
    refuses '--output=' -- --output=
    refuses '--columns=' -- --columns=
}

@test "arguments without a flag" {
    refuses '"naive"' '--algo=naive' -- naive
    refuses '"2000"' '--n=2000' -- --n 1000 2000
    refuses '"hello"' '--help' -- hello
    refuses '"help"' 'did you mean --help?' -- help
    refuses '"list"' 'did you mean --list?' -- list
    refuses '"version"' 'did you mean --version?' -- version
    refuses '"n=1000"' 'did you mean --n=1000?' -- n=1000
    refuses '"sort"' '--op=sort' -- sort
}

@test "flags that contradict" {
    refuses '--list contradicts --device-info' -- --list --device-info
    refuses 'contradicts' '--kind=exclusive,inclusive' -- --inclusive --exclusive
    refuses '--samples=5 contradicts --max-noise=1' -- --samples=5 --max-noise=1
    refuses 'contradicts' -- --samples=5 --min-time=1
    refuses 'contradicts' -- --samples=5 --max-time=1
    refuses '--min-time=2 contradicts --max-time=1' -- --min-time=2 --max-time=1
    refuses '--block=64 contradicts --device=cpu' -- --block=64 --device=cpu
    refuses '--threads=2 contradicts --device=emulator' -- --threads=2 --device=emulator
    refuses '--keep=0.5' 'compact' -- --keep=0.5
    refuses 'no chosen algorithm takes a block size' -- --block=64 --algo=serial
    for measure in kernels counts copies energy; do
        refuses "--$measure: all chosen algorithms run on the CPU" -- "--$measure" --algo=serial,simd
    done
}

@test "what is echoed is short and printable" {
    refuses '?[31mred?line' -- --algo=$'\e[31mred\nline'
    refuses '...' -- "--type=$(printf '%5000s' '' | tr ' ' x)"
    [ "${#stderr}" -lt 400 ]
    refuses 'unknown flag' -- "--$(printf '%5000s' '' | tr ' ' x)"
    [ "${#stderr}" -lt 400 ]
}

@test "a bad command line leaves no file behind" {
    refuses '--n=2^99' -- --output="$BATS_TEST_TMPDIR/rows.csv" --n=2^99
    [ ! -e "$BATS_TEST_TMPDIR/rows.csv" ]
}
