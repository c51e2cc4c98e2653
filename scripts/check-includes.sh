#!/bin/sh
# check-includes.sh [TREE]: checks which files include which, and that no algorithm declares
# another's descriptor. Prints each forbidden include or declaration as FILE:LINE: TEXT: RULE, and
# exits with 1 if there are any.
#
# The rules keep each algorithm readable on its own: it knows bench/algorithm.h and
# the helpers in its own folder, never another algorithm or the rest of the harness.
set -eu

cd "${1:-.}"
if ! [ -d bench ] || ! [ -d kernels ]; then
    echo "check-includes: no bench/ and kernels/ in $PWD" >&2
    exit 2
fi

# The headers of the C library: C11, POSIX and Linux.
libc='<(assert|complex|ctype|dlfcn|errno|fcntl|fenv|float|fnmatch|getopt|glob|inttypes|iso646'
libc="$libc|limits|locale|malloc|math|pthread|sched|setjmp|signal|stdalign|stdarg|stdatomic"
libc="$libc|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time"
libc="$libc|uchar|unistd|wchar|wctype|(sys|linux)/[a-z_]+)\\.h>"
# The standard headers that a C++ or CUDA file may include.
cplusplus='<[a-z_]+>'
cuda='<(cuda[a-z_0-9]*\.h|cuda/[a-z_/0-9]+|cooperative_groups(/[a-z_]+)?\.h|cub/[a-z_/]+\.cuh'
cuda="$cuda|thrust/[a-z_/]+\\.h|mma\\.h|sm_[0-9a-z_]+\\.h)>"
intrinsics='<(immintrin|arm_neon|cpuid|omp|x86intrin)\.h>'

found=$(mktemp)
trap 'rm -f "$found"' EXIT

# existing FILE...: prints those that exist; a pattern that nothing matched does not.
existing() {
    for file; do
        [ ! -f "$file" ] || echo "$file"
    done
}

# includes FILE...: prints each include as FILE:LINE: INCLUDE. Comments after it are not part
# of it.
includes() {
    existing "$@" | xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include' |
        sed -E -e 's/^([^:]+:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1: /' \
            -e 's/^([^:]+:[0-9]+: )(<[^>]*>|"[^"]*").*/\1\2/'
}

# only RULE ALLOWED FILE...: every include of the files must match ALLOWED.
only() {
    rule=$1 allowed=$2
    shift 2
    includes "$@" | grep -vE "^[^:]+:[0-9]+: ($allowed)\$" | sed -e "s|\$|: $rule|" >>"$found" || true
}

# never RULE FORBIDDEN FILE...: no include of the files may match FORBIDDEN.
never() {
    rule=$1 forbidden=$2
    shift 2
    includes "$@" | grep -E "^[^:]+:[0-9]+: ($forbidden)" | sed -e "s|\$|: $rule|" >>"$found" || true
}

# The names of the table's files, such as "scan_lookback", as a pattern.
algorithms=$(sed -nE 's/^(ALGORITHM\([A-Z]+, *|LIBRARY\()([A-Za-z0-9_]+).*/\2/p' bench/algorithms.def |
    sort -u | tr '\n' '|' | sed 's/|$//')

only "algorithm.h includes libc and the tables beside it only" \
    "$libc|\"((devices|operations|operators|types)\\.def|half\\.h)\"" bench/algorithm.h
only "engine.h includes algorithm.h and engines.def only" '"(algorithm\.h|engines\.def)"' bench/engine.h
only "timing/*.h include libc only" "$libc" timing/*.h
only "the GPU timer's header includes timing/ and the CUDA runtime" \
    "\"[a-z_]+\\.h\"|$libc|$cplusplus|<cuda_runtime\\.h>" timing/*.cuh

# Engines are not algorithms, and slices.h is for algorithms of several devices; they come next.
cpu_files=$(find cpu -maxdepth 1 -name '*.[ch]' ! -name 'engine_*' ! -name slices.h)
# One word per file.
# shellcheck disable=SC2086
only "a CPU algorithm includes bench/algorithm.h, apply.h, their tables, the thread pool, helpers of cpu/, libc and intrinsics" \
    "\"\\.\\./bench/((algorithm|apply|base/thread_pool)\\.h|(types|operands)\\.def)\"|\"[a-z0-9_]+\\.h\"|$libc|$intrinsics" $cpu_files
only "what several devices share includes bench/engine.h" "\"\\.\\./bench/engine\\.h\"|$libc" cpu/slices.h
only "a CPU engine may also include the processes" \
    "\"\\.\\./bench/(engine|base/processes)\\.h\"|$libc" cpu/engine_*.c
only "a CPU algorithm in C++ includes bench/algorithm.h, what lies beside it, helpers of cpu/ and libraries" \
    "\"\\.\\./bench/((algorithm|apply)\\.h|(types|operands|operators)\\.def)\"|\"[a-z0-9_]+\\.(h|hpp)\"|$libc|$cplusplus|$intrinsics|<[a-z_]+/.*>" \
    cpu/*.cpp cpu/*.hpp

# Only the queue and the dispatch by type and operator connect kernels and harness.
only "queue.cuh, with_type.cuh and operators.cuh include algorithm.h and what lies beside it, and CUDA" \
    "\"\\.\\./bench/((algorithm|apply|launch_log)\\.h|(types|operators|operands)\\.def)\"|\"(counting|with_type)\\.cuh\"|$cplusplus|$cuda|$libc" \
    kernels/queue.cuh kernels/with_type.cuh kernels/operators.cuh
# No name has a space.
# shellcheck disable=SC2046
only "a helper that all kernels share includes its like and CUDA" \
    "\"[a-z0-9_]+\\.cuh\"|$cplusplus|$cuda|$libc" \
    $(existing kernels/*.cu kernels/*.cuh | grep -vE '/(queue|with_type|operators)\.cuh$')

# room NAME ROOMS: a file of kernels/NAME/ includes helpers (*.cuh) of its own room, of kernels/
# itself, and of those rooms.
room() {
    files=$(existing "kernels/$1"/* | grep -vE '/(engine_|team\.cuh)')
    helper='[a-z0-9_]+\.cuh"'
    # One word per file.
    # shellcheck disable=SC2086
    only "kernels/$1/ stands on kernels/${2:+, $(echo "$2" | tr "|" ",")}, CUDA, Thrust and CUB" \
        "\"$helper|\"\\.\\./$helper${2:+|\"\\.\\./($2)/$helper}|$cplusplus|$cuda|$libc" $files
}
room classic ''
room single_pass ''
room libraries ''
room reduce classic
room sort classic
room devices 'classic|single_pass|sort'
only "what several devices share includes bench/engine.h, launch.cuh and team_queue.cuh" \
    "\"\\.\\./\\.\\./bench/engine\\.h\"|\"(\\.\\./launch|team_queue)\\.cuh\"|$cplusplus|$cuda|$libc" kernels/devices/team.cuh
only "a GPU engine may also include the processes" \
    "\"\\.\\./\\.\\./bench/base/processes\\.h\"|\"(\\.\\./)?[a-z0-9_]+\\.cuh\"|$cplusplus|$cuda|$libc" \
    kernels/devices/engine_*.cu

# The library: a second top above algorithms and bench/, which nothing else stands on.
only "the library's interface includes libc only" "$libc" library/scanbench.h
only "the library includes algorithm.h, choice.h, cpu_features.h, the thread pool, tables, and itself" \
    "\"\.\./bench/((algorithm|base/thread_pool|choice|cpu_features)\.h|(operands|operations|operators|types)\.def)\"|\"(handle|rows|scanbench|solve|task)\.h\"|\"algorithms\.def\"|$libc|$intrinsics" \
    library/handle.h library/rows.h library/solve.h library/task.h library/*.c
only "the library's side of GPUs includes launch.cuh and device_limits.cuh as well" \
    "\"\.\./kernels/(launch|device_limits)\.cuh\"|\"(handle|rows)\.h\"|\"algorithms\.def\"" library/*.cu
never "the program does not know the library" '"([^"]*/)?library/' scanbench.c bench/*.[ch] bench/*/* cpu/* \
    kernels/* kernels/*/* timing/*
only "an example includes what its user has: scanbench.h, the CUDA runtime and libc" \
    "<scanbench\.h>|<cuda_runtime\.h>|$libc" examples/*.c

# layer FOLDER FOLDERS: what lies in bench/FOLDER/ includes no header of bench/FOLDERS/, which lie above it or beside
# it, however it writes the path.
layer() {
    up=${1#bench} && up=${up:+\\.\\./}
    never "$1/ stands below or beside $(echo "$2" | tr '|' ',')" "\"($up|(\\.\\./)*bench/)($2)/" "$1"/*
}
# From the bottom up. scanbench.c is on top.
only "bench/base/ is the ground floor: it includes its like, timing/ and the system" \
    "\"[a-z_]+\\.h\"|\"\\.\\./\\.\\./timing/[a-z_]+\\.h\"|<[a-z_/]+\\.h>" bench/base/*
layer bench 'device|rows|own|worker|cli|run'
layer bench/device 'rows|own|worker|cli|run'
layer bench/rows 'device|own|worker|cli|run'
layer bench/own 'rows|worker|cli|run'
layer bench/worker 'device|own|cli|run'
layer bench/cli 'worker|run'
never "the table knows no words for its rows" '"registry\.h"' bench/table.[ch] bench/names.[ch]
never "choices stand on algorithm.h alone" '"(registry|table)\.h"' bench/choice.[ch]
only "what the user's sources include needs CUDA and the standard library alone" "$libc|$cplusplus|$cuda" own/*.h
never "timing/ includes nothing of bench/" '"\.\./bench/' timing/*
only "the emulator includes its like, the counts, the timer that it replaces and the system" \
    '"(headers/)?[a-z_/]+\.h"|"\.\./timing/(memory_counts\.h|gpu_timer\.cuh)"|<[a-z_/]+(\.h)?>' emulator/*.h emulator/*.cpp
never "only devices launch kernels" '"(\.\./)*kernels/' scanbench.c bench/*.[ch] bench/*/*.[ch] timing/* emulator/*.*

# What a header declares may be called, and nothing else: a declaration by hand would be an include that no rule sees.
by_hand='^(extern +[^"]|[a-z][A-Za-z_0-9 *]*\([^;]*\);)'
existing scanbench.c bench/*.c bench/*/*.c timing/*.c library/*.c | xargs -r grep -nHE "$by_hand" |
    grep -vE '^[^:]+:[0-9]+:(static|typedef) |extern char \*\*environ;' |
    sed -E -e 's/^([^:]+:[0-9]+):/\1: /' -e 's/$/: a declaration lies in the header of the file that defines it/' \
        >>"$found" || true

# Matches another algorithm's file in any form: a .c, a .cu, or a header of its name.
never "no file includes another file's code" '["<][^">]*\.(c|cu|cpp)[">]' \
    bench/*.[ch] bench/*/* cpu/* kernels/* kernels/*/* timing/* scanbench.c
if [ -n "$algorithms" ]; then
    never "no algorithm includes another" "[\"<]([^\">]*/)?($algorithms)\\.[a-z]+[\">]" \
        cpu/* kernels/* kernels/*/*
fi

# Algorithms share helpers and functions, which headers declare. By another's descriptor a row could
# run what its name does not say. A line that defines its own has a "=".
foreign='\<extern\>.*\<(algorithm|engine)\>|\<DESCRIPTOR_(NAME|JOIN)\>|\<(ALGORITHM|ENGINE)_DESCRIPTOR\>'
existing cpu/* kernels/* kernels/*/* | grep -vx 'kernels/launch\.cuh' | xargs -r grep -nHE "$foreign" |
    grep -vE ' = ?([A-Z_{]|$)' |
    sed -E -e 's/^([^:]+:[0-9]+):[[:space:]]*/\1: /' \
        -e 's/$/: no algorithm declares a descriptor that is not its own/' >>"$found" || true

# On the CPU, Thrust is a library like any other.
where="CUDA headers belong to kernels/, the GPU timer and bench/device/*.cu"
never "$where" "$cuda" scanbench.c bench/*.[ch] bench/*/*.[ch] cpu/*.[ch] timing/*.[ch]
# shellcheck disable=SC2046
never "$where" "$cuda" $(existing bench/*.cu* bench/*/*.cu* | grep -v '^bench/device/')

# Headers include each other in no circle: tsort names those that do. An include that is forbidden may close some, so
# they are looked for last. No name has a space.
# shellcheck disable=SC2046
[ -s "$found" ] || includes $(find bench cpu emulator kernels library timing -name '*.h' -o -name '*.cuh') |
    sed -nE 's|^(.*/)([^/:]+):[0-9]+: "([^"]+)"$|\1\2 \1\3|p' |
    sed -E -e ':up' -e 's|[^/ .]+/\.\./||' -e 't up' | tsort 2>&1 >/dev/null |
    sed -nE 's/^tsort: ([^-].*\/.*)$/\1:1: headers include each other in a circle/p' >>"$found"

if [ -s "$found" ]; then
    sort -u "$found"
    exit 1
fi
