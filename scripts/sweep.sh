#!/bin/bash
# sweep.sh [FLAG...]: measures algorithms over array sizes, into
# results/local/DEVICE/OP.csv.
#
#   --op=LIST       operations; default: all
#   --n=SIZES       default: 2^12..2^29, each and 5/8 of it
#   --device=D      one device; default: the GPU, or without one the CPU
#   --name=NAME     write to OP-NAME.csv, as in --name=types --n=2^26 --type=i32,i64,f64
#   --folder=DIR    write to DIR instead of results/local/DEVICE of the source tree
#   --dry-run       only print what would be run
#   --help          print this help
#
# Every other flag is passed on to scanbench: --algo=own, --keep=0.5, --cache=both,
# --copies. Without --max-time a row takes 0.2 s or a little more.
#
# Slow rows are left out or get fewer samples: a sort passes over its keys once per bit
# or compares them, so above 2^22 each sort has three samples, and above 2^26 only
# libraries and the fastest of our own algorithms run.
#
# Run an interrupted sweep again, and it continues where it stopped.
set -euo pipefail
# No cd: names of files in the flags are those of the folder of whoever calls.
root=$(realpath "$(dirname "$0")/..")
scanbench=${SCANBENCH:-$root/scanbench}

operations=
device=
sizes=
name=
folder=
flags=()
for argument; do
    case $argument in
    --op=?*) operations=${argument#*=} ;;
    --n=?*) sizes=${argument#*=} ;;
    --device=?*) device=${argument#*=} ;;
    --name=?*) name=-${argument#*=} ;;
    --folder=?*) folder=${argument#*=} ;;
    --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --op* | --n=* | -n | --device* | -d* | --name* | --folder* | --output* | -o* | [!-]*)
        echo "sweep.sh: $argument is not known; it must be --op=LIST, --n=SIZES, --device=D, --name=NAME," \
            "--folder=DIR, or a flag of scanbench with its value after =" >&2
        exit 2
        ;;
    *) flags+=("$argument") ;;
    esac
done

if [ -z "$device" ]; then
    device=cpu
    if "$scanbench" --device-info --device=gpu >/dev/null 2>&1; then
        device=gpu
    fi
fi
[ -n "$folder" ] || folder=$root/$(SCANBENCH=$scanbench "$root/scripts/results-folder.sh" "$device")
brief=(--max-time=0.2)
briefest=(--samples=3)
if [[ " ${flags[*]-} " == *" --max-time="* || " ${flags[*]-} " == *" --samples="* ]]; then
    brief=()
    briefest=()
fi

# measure OP FLAG...: appends missing rows to the operation's file. After a wrong result the others are
# measured all the same.
code=0
measure() {
    local op=$1 now=0
    shift
    "$scanbench" --op="$op" --device="$device" --resume --output="$folder/$op$name.csv" \
        "$@" "${flags[@]}" || now=$?
    [ "$now" -eq 0 ] || [ "$now" -eq 3 ] || exit "$now"
    [ "$now" -eq 0 ] || code=$now
}

# all_sizes OP: the default sizes.
all_sizes() {
    local op=$1 fastest=(library memcpy)
    if [ "$op" != sort ]; then
        measure "$op" --n=2^12..2^29 --pot --npot "${brief[@]}"
        return
    fi
    measure sort --n=2^12..2^22 --pot --npot "${brief[@]}"
    measure sort --n=2^23..2^26 --pot --npot "${briefest[@]}"
    # Which of our own algorithms exist depends on the device.
    case $device in
    cpu) fastest+=(simd parallel radix) ;;
    *) fastest+=(auto reduce-then-scan) ;;
    esac
    measure sort --n=2^27..2^29 --pot --npot "${briefest[@]}" \
        --algo="$(IFS=, && echo "${fastest[*]}")"
}

[ -n "$operations" ] || operations=$("$scanbench" --list | awk 'NR > 1 && /^[^ ]/ { print $1 }' | uniq | paste -sd,)
mkdir -p "$folder"
IFS=, read -ra each <<<"$operations"
for op in "${each[@]}"; do
    if [ -n "$sizes" ]; then
        measure "$op" --n="$sizes" "${brief[@]}"
    else
        all_sizes "$op"
    fi
done
exit "$code"
