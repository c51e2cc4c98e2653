#!/bin/sh
# run.sh: a first look. Runs ./scanbench on this machine's devices, prints a table, and
# writes the same rows, with all columns, to a new CSV file in results/local/.
set -eu

folder=results/local
file=$folder/$(date +%Y-%m-%d-%H%M%S)-$$.csv
gpu_sizes=2^16,2^20,2^24,41943040,2^26 # the fourth is 5/8 of 2^26
cpu_sizes=2^16,2^20,10485760,2^24      # beside a GPU; the third is 5/8 of 2^24
first_sizes=2^16,2^20,2621440          # few, so that a slow CPU is soon done; the third is 5/8 of 2^22
emulator_sizes=1000,2^12
simulated=
status=0

# measure TITLE FLAG...: prints a table and adds its rows to the file. A failure is remembered
# and the rest still runs, except after Ctrl-C.
measure() {
    [ "$status" -ne 130 ] || return 0
    echo "$1"
    shift
    code=0
    ./scanbench --format=table --max-time=300ms --max-noise=2 --output="$file.part" "$@" || code=$?
    if [ -e "$file" ]; then
        sed 1d "$file.part" >>"$file"
    else
        cat "$file.part" >"$file"
    fi
    rm -f "$file.part"
    [ "$code" -eq 0 ] || status=$code
    echo
}

# Without a GPU, `make run` does not compile the GPU code, which takes minutes.
explain_cuda() {
    case $(./scanbench --version) in
    *nvcc*) ;;
    *) cat <<END

This build is without CUDA. For a GPU: \`make run\` on a machine that has one and
the CUDA Toolkit. With the Toolkit alone, \`make\` compiles the GPU code, which
takes minutes, and \`make NVCC=\` leaves it out.
END
        ;;
    esac
}

explain_counts() {
    cat <<END

kernels    launches of kernels
work       additions per element
B/elem     bytes that threads load from and store to global memory, per element
used       share of the bytes of the memory sectors touched for that
conflicts  bank conflicts of accesses to shared memory
END
}

explain() {
    cat <<END
time       median of many runs; on a GPU, without the host's latency
±          half the width of the 95 % confidence interval of that median;
           ! where it stayed above 2 %
GB/s       bytes the scan must move (each element read once and written once)
           divided by the time
% memcpy   how near that is to a plain copy of the same array, measured in the
           same run: 100 % is as fast as memcpy; ! where that of memcpy
           stayed above 2 %
check      passed: every element of the result was verified
END
    [ -z "$simulated" ] || explain_counts
    cat <<END

All columns of these rows: $file
Charts of them: scripts/plot.sh $file

To go on:
END
    ! ./scanbench --list | grep -q 'adds the other algorithms' ||
        echo '  make NVCC=   the other algorithms; sort, compaction and reduction, too'
    if [ -n "$simulated" ]; then
        cat <<END
  ./scanbench --counts --algo='naive*,efficient*' --n=2^10..2^16
  ./scanbench --check --algo=examples/course/my_scan.cu
  docs/teaching.md: what is wrong with a scan, why it is slow, and pictures
END
    else
        cat <<END
  ./scanbench --algo=efficient-smem --n=2^20 --block=32..1024
  ./scanbench --algo='efficient*,memcpy' --n=2^12..2^20 --output=scan.csv
END
    fi
    echo "  ./scanbench --help"
}

# Ctrl-C ends the current measurement; its rows are kept, both in scanbench and here.
trap : INT

mkdir -p "$folder"
echo
if ./scanbench --device-info --device=gpu >/dev/null 2>&1; then
    measure "The GPU's algorithms, on arrays of n elements:" --device=gpu --n="$gpu_sizes"
    measure "The CPU's, to compare:" --device=cpu --n="$cpu_sizes" --quiet
else
    measure "The CPU's algorithms, on arrays of n elements:" --device=cpu --n="$first_sizes" --max-time=150ms
    # This shows that the kernels are right and what they do, not how fast they are.
    simulated=yes
    measure "The GPU's algorithms in the emulator, since there is no GPU here. Every
result is checked as on a GPU. In place of times, which would say nothing about
a GPU, the table has what the kernels do to memory:" \
        --device=emulator --n="$emulator_sizes" --counts --quiet
fi
if [ "$status" -eq 130 ]; then
    echo "The rows so far: $file"
else
    explain
    explain_cuda
fi
exit "$status"
