#!/bin/sh
# toolchain.sh KEY: prints the compilers and libraries that are present, as make variables.
# KEY, the settings they were found for, is recorded with them (scripts/toolchain.mk).
#
# From the environment: CC, CXX, NVCC (empty: no CUDA) and CUDA_HOME.
set -eu
cxx=${CXX:-c++}

# links FLAG... [-- LIBRARY...]: does a program with those flags and libraries link?
links() {
    flags=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        flags="$flags $1"
        shift
    done
    [ $# -eq 0 ] || shift
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    echo 'int main() {}' | $cxx -std=c++20 -x c++ $flags -o /dev/null - "$@" >/dev/null 2>&1
}

# library NAME FLAGS LIBRARIES: uses an optional library if it compiles and links.
library() {
    echo "$1_FLAGS := -DSCANBENCH_$1${2:+ $2}"
    echo "$1_LIBS := $3"
}

# The flags with which a C++ compiler makes each load and store call a function, with a frame for
# every call; none if it cannot. gcc from version 11 on and clang have functions of their own for what
# is volatile. The newest can leave out calls for functions as well.
counting_flags() {
    base='-fsanitize=thread -fno-omit-frame-pointer -fno-optimize-sibling-calls'
    # clang takes gcc's --param as well, and does nothing about it.
    clang='-mllvm -tsan-instrument-read-before-write=1 -mllvm -tsan-distinguish-volatile=1'
    gcc=--param=tsan-distinguish-volatile=1
    for more in "-mllvm -tsan-instrument-func-entry-exit=0 $clang" \
        "--param=tsan-instrument-func-entry-exit=0 $gcc" "$gcc" ''; do
        # Words of flags, on purpose.
        # shellcheck disable=SC2086
        if echo 'int x;' | $cxx -x c++ $base $more -S -o /dev/null - 2>/dev/null; then
            echo "$base${more:+ $more}"
            return
        fi
    done
}

cuda() {
    nvcc_says=$($NVCC --version 2>/dev/null)
    case $nvcc_says in
    *clang*)
        echo "$NVCC is not nvcc: only nvcc compiles the GPU code here" >&2
        return 0
        ;;
    esac
    command -v "${NVCC%% *}" >/dev/null 2>&1 && command -v "${cxx%% *}" >/dev/null 2>&1 || return 0
    # Only nvcc itself knows where its runtime library is: it may be a wrapper.
    cuda_libs=$($NVCC --dryrun -x cu /dev/null 2>&1 | sed -n 's/^.. LIBRARIES=//p' | tr -d '"')
    cuda_libs="${cuda_libs% } -lcudart_static"
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    if ! links -- $cuda_libs -ldl -lpthread -lrt; then
        echo "$NVCC comes without libcudart_static, so it cannot be used" >&2
        return 0
    fi
    echo "USABLE_NVCC := $NVCC"
    echo "NVCC_VERSION := $(echo "$nvcc_says" | sed -n 's/.*release \([0-9.]*\).*/nvcc_\1/p')"
    echo "CUDA_LIBS := $cuda_libs"
    nvcc_help=$($NVCC --help 2>/dev/null || true)
    # Code for a GPU that never runs need not be fast: nvcc 12.9 and later compile some of it ten
    # times as fast.
    echo "QUICK_NVCC := $(echo "$nvcc_help" | sed -n 's/.*(-Ofc).*/-Ofc=max/p')"
    # The flag with which nvcc only checks such code, if it has one.
    echo "READ_BY_NVCC := $(echo "$nvcc_help" | sed -n 's/.*(\(-fdevice-syntax-only\)).*/\1/p')"
    [ -n "$gpu_archs" ] || echo "nvcc but no GPU here: \`make\` compiles the GPU code, which takes minutes;" \
        "\`make NVCC=\` leaves it out" >&2
}

gpu_archs() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . |
        grep -E '^[0-9]+$' | sort -nu | tr '\n' ' '
}

echo "# What scripts/toolchain.sh found."
printf 'FOUND_FOR := %s\n' "$(printf '%s' "$1" | sed 's/[$]/$$/g; s/#/\\#/g')"
gpu_archs=$(gpu_archs || true)
[ -z "${NVCC:-}" ] || cuda
echo "GPU_ARCHS := $gpu_archs"
echo "COUNTING_FLAGS := $(counting_flags)"

thrust=-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP
[ ! -d "${CUDA_HOME:-}/include/cccl" ] || thrust="-isystem $CUDA_HOME/include/cccl $thrust"
# A second each, so all at once.
{
    links -include tbb/parallel_scan.h -- -ltbb && library TBB '' -ltbb
} &
{
    links -include hwy/contrib/sort/vqsort.h -- -lhwy_contrib -lhwy && library HIGHWAY '' '-lhwy_contrib -lhwy'
} &
{
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    links -fopenmp $thrust -include thrust/scan.h && library THRUST "$thrust" ''
} &
wait
