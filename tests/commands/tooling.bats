#!/usr/bin/env bats
# tooling: the build, the checks and the tests themselves: each can fail, and adding an
# algorithm takes one file and one line.

# setup() of helpers sets them; what sh -c gets is expanded there; each test is a
# subshell of its own.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031
load helpers

# copy_tree: copies the sources, and the objects of their build with sanitizers, to $tree. The
# programs of the unit tests are many times as large.
copy_tree() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree/build/asan"
    cp -a Makefile scanbench.c bench cpu emulator examples kernels library own scripts tests timing "$tree"
    find build/asan -mindepth 1 -maxdepth 1 ! -name tests -exec cp -a {} "$tree/build/asan" \;
    # What the build with sanitizers takes from the one without.
    cp -a build/emulated build/cpu build/flags build/generated build/toolchain*.mk "$tree/build"
}

# build_tree: builds scanbench with sanitizers there; $output has the compiler's messages.
build_tree() {
    run env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" asan-program
}

# small_repository: in $tree, with a page, and a program that says that it was built from the commit there.
small_repository() {
    tree=$BATS_TEST_TMPDIR/tree
    command -v git || skip "git is missing"
    command -v tmux || skip "tmux is missing"
    mkdir -p "$tree/scripts" "$tree/docs"
    cp scripts/pictures.py scripts/transcripts.py scripts/browser.py "$tree/scripts"
    printf '%s\n' 'Before.' '```console' '$ ./scanbench --n=1' 'as it once was' '```' 'Between.' '```console' \
        '$ ./scanbench --wrong' '$ echo $?' '0' '```' 'After.' >"$tree/README.md"
    echo 'No transcripts.' >"$tree/docs/measuring.md"
    printf '%s\n' /scanbench /tries >"$tree/.gitignore"
    cat >"$tree/scanbench" <<'END'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
version="scanbench v0.2.0 $(cat "$root/.git/built")"
case $* in
--version) echo "$version, gcc_12.2.0" ;;
--wrong) echo "scanbench: --wrong: no such flag" >&2; exit 2 ;;
*)
    echo x >>"$root/tries"
    printf '40 %% done' >&2
    printf '\r\033[K' >&2
    [ -t 1 ] && [ -t 2 ] && stty size | sed 's/.* /columns: /'
    # Noisy at first.
    [ "$(wc -l <"$root/tries")" -gt "$(cat "$root/.git/noisy")" ] && mark=' ' || mark='!'
    printf '\033[1m%s, a CPU\033[0m\nserial  4.1 us  ± 0.9 %%%s  passed\n' "$version" "$mark"
    ;;
esac
END
    chmod +x "$tree/scanbench"
    git -C "$tree" init -q
    git -C "$tree" add .
    git -C "$tree" -c user.name=a -c user.email=a@example.org commit -qm First
    built=g$(git -C "$tree" rev-parse --short=7 HEAD)
    echo "$built" >"$tree/.git/built"
    echo 0 >"$tree/.git/noisy"
}

# take FLAG...: runs pictures.py there, with the load $load per processor. The picture is the text of the table.
take() {
    mkdir -p "$BATS_TEST_TMPDIR/stubs"
    echo 'Image = None' >"$BATS_TEST_TMPDIR/stubs/PIL.py"
    PYTHONPATH=$tree/scripts:$BATS_TEST_TMPDIR/stubs LOAD=${load:-0} python3 -B - "$@" <<'END'
import os, sys
import pictures
def draw(table, folder):
    with open(os.path.join(folder, "table.png"), "w") as file:
        file.write(table)
pictures.draw, pictures.missing = draw, lambda: None
os.getloadavg = lambda: (float(os.environ["LOAD"]) * os.cpu_count(), 0, 0)
sys.exit(pictures.main(sys.argv[1:]))
END
}

# refuses CODE TEXT FLAG...: one line on stderr, and nothing has changed.
refuses() {
    local code=$1 text=$2
    run --separate-stderr take "${@:3}"
    echo "exit $status; $output; $stderr"
    [ "$status" -eq "$code" ]
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" 'pictures.sh: ' "$text"
    [ ! -e "$tree/docs/pictures" ]
    git -C "$tree" diff --quiet README.md
}

# ---- Adding an algorithm ----

@test "adding an algorithm, on the GPU and on the CPU: one file and one line each" {
    long_test
    copy_tree
    # The kernel and its line from docs/adding.md.
    sed -n '/^```cuda$/,/^```$/p' docs/adding.md | sed '1d;$d' >"$tree/kernels/classic/scan_one_thread.cu"
    grep '^    ALGORITHM(GPU' docs/adding.md >>"$tree/bench/algorithms.def"
    sed -n '/^```c$/,/^```$/{ /scan_plain: /,/^```$/p }' docs/adding.md | sed '$d' >"$tree/cpu/scan_plain.c"
    grep '^    ALGORITHM(CPU, scan_plain' docs/adding.md >>"$tree/bench/algorithms.def"
    build_tree
    echo "$output"
    [ "$status" -eq 0 ]
    "$tree/build/asan/scanbench" --list | grep -q '^scan *one-thread .*one thread does it all'
    "$tree/build/asan/scanbench" --algo=one-thread --device=emulator --n=0,1,1000 --block=32,1024 \
        --kind=exclusive,inclusive --type=i32,f64 --samples=1 --output="$rows"
    [ "$(read_csv "$rows" check | sort | uniq -c | awk '{ print $1, $2 }')" = "24 passed" ]
    [ "$("$tree/build/asan/scanbench" --algo=plain --n=1000 --samples=1 --columns=algo,check | tail -n 1)" = \
        plain,passed ]

    # The tests include it without further changes.
    run bash tests/matrix.sh "$tree/build/asan/scanbench" 'scan one-thread'
    [ "$status" -eq 0 ]
    has "$output" '1..2' 'ok 1 - scan one-thread on emulator: '
    # Algorithms over a scan need no line either.
    run bash tests/matrix.sh "$tree/build/asan/scanbench" 'compact one-thread'
    has "$output" '1..2' 'ok 1 - compact one-thread on emulator: '
    # Nor does one that takes two types.
    run bash -c "cd '$tree' && bash tests/matrix.sh build/asan/scanbench 'scan plain'"
    has "$output" '1..2' 'ok 1 - scan plain on cpu: '
    "$tree/scripts/check-includes.sh" "$tree"
}

@test "a row of the table without a file fails at link, by its name" {
    long_test
    copy_tree
    echo 'ALGORITHM(CPU, scan_misspelt)' >>"$tree/bench/algorithms.def"
    build_tree
    [ "$status" -ne 0 ]
    has "$output" cpu_scan_misspelt
}

# ---- The build ----

@test "the build with nvcc says so, and links the GPU's half" {
    local nvcc
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc 2>/dev/null || true)
    nvcc=${NVCC-$nvcc} # make test NVCC=
    [ -n "$nvcc" ] || skip "no nvcc here"
    [[ $(./scanbench --version) == *", nvcc_"[0-9]* ]]
    ! ./scanbench --list | grep 'not in this build' || false
    # A request for a GPU finds no GPU, rather than a build that could not use one.
    run ./scanbench --device-info --device=gpu
    [ "$status" -eq 4 ]
    [[ $output != *"this build has no CUDA"* ]]
}

# jobs_of WORD...: the -j that `make WORD...` runs with, if any, where it would take 3.
jobs_of() {
    env -u MAKEFLAGS -u MAKELEVEL make -np JOBS=3 NVCC= BUILD="$BATS_TEST_TMPDIR/build" "$@" 2>/dev/null |
        grep -a '^MAKEFLAGS' | tail -n 1 | grep -o -- ' -j[0-9]*' || true
}

@test "make help: the head of the Makefile, and none of its comments" {
    run -0 env -u MAKEFLAGS -u MAKELEVEL make help NVCC=
    [[ $output == *"make test "*"make sweep "*"make clean, make help" ]]
    [[ $(grep -v '^  make' <<<"$output") == "" ]]
}

@test "make uses all processors, or as many as -j says" {
    [ "$(jobs_of)" = ' -j3' ]
    [ "$(jobs_of deb)" = ' -j3' ]
    [ "$(jobs_of -j2 all)" = ' -j2' ]
    [ -z "$(jobs_of check)" ] # starts a make for each part
}

@test "NVCC=clang++: one line says that only nvcc will do" {
    printf '#!/bin/sh\necho "Debian clang version 14.0.6"\n' >"$BATS_TEST_TMPDIR/clang++"
    chmod +x "$BATS_TEST_TMPDIR/clang++"
    run --separate-stderr env NVCC="$BATS_TEST_TMPDIR/clang++" CXX="${CXX:-c++}" sh scripts/toolchain.sh key
    [ "$status" -eq 0 ]
    [ "$stderr" = "$BATS_TEST_TMPDIR/clang++ is not nvcc: only nvcc compiles the GPU code here" ]
    [[ $output != *USABLE_NVCC* ]]
}

@test "the build without nvcc says so" {
    [[ $(build/asan/scanbench --version) != *nvcc* ]]
    run build/asan/scanbench --device-info --device=gpu
    [ "$status" -eq 4 ]
    has "$output" 'this build has no CUDA'
}

@test "what does not change is not built again; flags that change rebuild" {
    copy_tree
    build_tree
    build_tree
    [ "$status" -eq 0 ]
    ! grep -E '(^| )(CC|CXX|LINK) ' <<<"$output" || false
    run env -u MAKEFLAGS -u MAKELEVEL make -n -C "$tree" BUILD=build/asan NVCC= CFLAGS=-O0 \
        build/asan/bench/base/sizes.o
    has "$output" 'bench/base/sizes.c'
    # If a library appears or disappears, only its users and the program are rebuilt.
    run env -u MAKEFLAGS -u MAKELEVEL make -n -C "$tree" TBB_FLAGS=-DANOTHER_TBB asan-program
    has "$output" ' cpu/tbb.cpp' ' cpu/std_par.cpp' 'build/asan/scanbench'
    [[ $output != *' cpu/std.cpp'* && $output != *' cpu/vqsort.cpp'* && $output != *' bench/base/sizes.c'* ]]
    touch "$tree/bench/algorithm.h"
    run env -u MAKEFLAGS -u MAKELEVEL make -n -C "$tree" asan-program
    has "$output" 'cpu/scan_serial.c' 'kernels/classic/scan_naive.cu'
}

@test "the build prints a line per file, and of a command that fails all of it" {
    long_test
    copy_tree
    local build=(env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" NVCC= BUILD=build/plain build/plain/bench/base/sizes.o build/plain/bench/base/text.o)
    run "${build[@]}" -j2
    [ "$status" -eq 0 ]
    has "$output" 'CC    bench/base/sizes.c' 'CC    bench/base/text.c'
    [[ $output != *-std=* ]]
    rm "$tree"/build/plain/bench/base/*.o
    run "${build[@]}" QUIET=1
    [[ $output != *bench/* ]]
    rm "$tree"/build/plain/bench/base/*.o
    run "${build[@]}" -s
    [[ $output != *bench/* ]]
    rm "$tree"/build/plain/bench/base/*.o
    run "${build[@]}" V=1
    has "$output" ' -std=gnu11 ' ' -c -o build/plain/bench/base/sizes.o bench/base/sizes.c'
    [[ $output != *'CC  '* ]]
    # Removed, since a file system's clock can be too coarse to tell which is newer.
    rm "$tree"/build/plain/bench/base/*.o
    echo 'int broken = ;' >>"$tree/bench/base/text.c"
    run "${build[@]}"
    [ "$status" -eq 2 ]
    has "$output" 'bench/base/text.c:' 'error:' 'failed (CC bench/base/text.c): ' ' -std=gnu11 ' ' -c -o build/plain/bench/base/text.o bench/base/text.c'
    sed -i '$d' "$tree/bench/base/text.c"
    # What was built, and how long that took.
    build_tree
    [ "$status" -eq 0 ]
    touch "$tree/bench/base/text.c"
    build_tree
    has "$output" 'CC    bench/base/text.c' 'LINK  build/asan/scanbench' 'built build/asan/scanbench in '
    grep -qx 'built build/asan/scanbench in [0-9a-z ]*, without CUDA: GPU algorithms run in the emulator' <<<"$output"
}

# counting_tools: puts wrappers of the compilers into $tools that record each call in
# $tools/calls, and an nvcc that answers the queries made before compiling.
counting_tools() {
    tools=$BATS_TEST_TMPDIR/tools
    mkdir -p "$tools"
    # It finds all libraries, and compiles nothing, which takes seconds.
    printf '#!/bin/sh\necho "c++ $*" >>"%s/calls"\n' "$tools" >"$tools/counting-c++"
    cat >"$tools/nvcc" <<END
#!/bin/sh
echo "nvcc \$*" >>"$tools/calls"
case \$1 in
--version) echo 'release 12.3' ;;
--dryrun) echo '#$ LIBRARIES="-L$tools"' >&2 ;;
*) exit 1 ;;
esac
END
    chmod +x "$tools"/*
    : >"$tools/calls"
}

# plan FLAG...: prints what make would do in a separate build with those tools.
plan() {
    run env -u MAKEFLAGS -u MAKELEVEL make -n BUILD="$BATS_TEST_TMPDIR/build" CXX="$tools/counting-c++" \
        CUDA_HOME="$BATS_TEST_TMPDIR" "$@"
    [ "$status" -eq 0 ]
}

@test "compilers and libraries are looked for once, and again when something changes" {
    counting_tools
    plan NVCC="$tools/nvcc" help
    plan NVCC="$tools/nvcc" clean
    [ ! -s "$tools/calls" ]
    plan NVCC="$tools/nvcc"
    [ "$(grep -c '^nvcc' "$tools/calls")" -eq 3 ]
    [ "$(grep -c '^c++' "$tools/calls")" -eq 5 ]
    : >"$tools/calls"
    plan NVCC="$tools/nvcc"
    [ ! -s "$tools/calls" ]
    # A library's header appears where the compiler looks, and the compiler is replaced.
    mkdir -p "$BATS_TEST_TMPDIR/include"
    export CPATH=$BATS_TEST_TMPDIR/include
    plan NVCC="$tools/nvcc"
    [ "$(grep -c '^c++' "$tools/calls")" -eq 5 ]
    : >"$tools/calls"
    plan NVCC="$tools/nvcc"
    [ ! -s "$tools/calls" ]
    touch -d '+1 second' "$CPATH"
    plan NVCC="$tools/nvcc"
    [ -s "$tools/calls" ]
    : >"$tools/calls"
    plan NVCC=
    [ -s "$tools/calls" ]
    ! grep '^nvcc' "$tools/calls" || false
}

@test "GPU code is compressed" {
    counting_tools
    plan NVCC="$tools/nvcc" "$BATS_TEST_TMPDIR/build/gpu/kernels/classic/scan_naive.o"
    has "$output" ' -Xfatbin=-compress-all '
    plan NVCC="$tools/nvcc" COMPRESS_NVCC=--compress-mode=size "$BATS_TEST_TMPDIR/build/gpu/kernels/classic/scan_naive.o"
    has "$output" ' --compress-mode=size '
    [[ $output != *-compress-all* ]]
}

@test "make run without a GPU leaves the GPU's code out, and make has it" {
    ! nvidia-smi -L >/dev/null 2>&1 || skip "a GPU is here"
    counting_tools
    plan NVCC="$tools/nvcc" FOR=run all
    [ "$(grep -cF 'nvcc but no GPU here: `make` compiles the GPU code, which takes minutes; `make NVCC=` leaves it out' <<<"$output")" -eq 1 ]
    [[ $output != *"$tools/nvcc "* && $output != *SCANBENCH_CUDA* ]]
    has "$output" ' kernels/classic/scan_naive.cu' ' bench/run/session.c'
    plan NVCC="$tools/nvcc" all
    has "$output" "$tools/nvcc " 'sm_80' 'sm_90' SCANBENCH_CUDA ' bench/run/session.c'
    plan NVCC="$tools/nvcc" FOR=test all
    has "$output" "$tools/nvcc " 'code=compute_90' SCANBENCH_CUDA
    [[ $output != *code=sm_* ]]
    # The files that differ between builds are found by the macros they mention.
    [ "$(grep -c SCANBENCH_CUDA <<<"$output")" -le 5 ]
    # Objects built for all architectures are neither rebuilt for one nor left out.
    mkdir -p "$BATS_TEST_TMPDIR/build/gpu" "$BATS_TEST_TMPDIR/build/flags"
    echo 'code=sm_80 code=sm_86' >"$BATS_TEST_TMPDIR/build/flags/NVCC"
    plan NVCC="$tools/nvcc" FOR=test all
    has "$output" sm_80 sm_86
    plan NVCC="$tools/nvcc" FOR=run all
    has "$output" "$tools/nvcc "
}

@test "make run, where there is no program yet, builds one of few algorithms, and make completes it" {
    ! nvidia-smi -L >/dev/null 2>&1 || skip "a GPU is here"
    local first=$BATS_TEST_TMPDIR/first
    make_apart() {
        env -u MAKEFLAGS -u MAKELEVEL make -s NVCC= REUSE=build BUILD="$BATS_TEST_TMPDIR/build" PROGRAM="$first" "$@"
    }
    make_apart FOR=run all
    run "$first" --list
    has "$output" 'scan    naive ' 'scan    parallel ' '`make NVCC=` adds the other algorithms'
    [[ $output != *lookahead* ]]
    run --separate-stderr "$first" --n=1000 --samples=1 --columns=algo,device,check --quiet
    [ "$status" -eq 0 ]
    has "$output" serial,cpu,passed naive,emulator,passed warp-shuffle,emulator,passed
    run --separate-stderr "$first" --n=1000 --samples=1 --op=sort
    has "$stderr" 'not in this build: most algorithms (`make NVCC=` adds them)'
    run "$first" --algo=lookahead
    [ "$status" -eq 2 ]
    has "$output" '`make NVCC=` adds the others'
    # Again, it is the same; after make, it is the whole program.
    make_apart FOR=run all
    [[ $("$first" --list) == *'`make NVCC=` adds'* ]]
    make_apart all
    make_apart FOR=run all
    run "$first" --list
    has "$output" lookahead
    [[ $output != *'`make NVCC=` adds'* ]]
}

# ---- A bare machine ----

# bare_path: makes a folder with a minimal set of tools, to replace PATH.
bare_path() {
    local tool
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    for tool in sh make sed grep tr sort ls cat cmp mkdir rm mv echo printf id head dirname env test; do
        if command -v "$tool" >/dev/null; then
            ln -sf "$(type -P "$tool")" "$BATS_TEST_TMPDIR/bin/$tool"
        fi
    done
    echo "$BATS_TEST_TMPDIR/bin"
}

@test "make run, on a machine with only make and a shell: nothing fails before the installation" {
    run --separate-stderr env -i PATH="$(bare_path)" make -n BUILD="$BATS_TEST_TMPDIR/build" run
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    has "${lines[0]}" scripts/install-deps.sh
}

@test "install-deps: where there is no apt-get it names what is missing, exit 1" {
    run env -i PATH="$(bare_path)" sh scripts/install-deps.sh build test check
    [ "$status" -eq 1 ]
    has "$output" gcc g++ bats python3 clang-format clang-tidy cppcheck shellcheck 'neither Debian nor Ubuntu'
}

@test "install-deps: with apt-get it updates, then installs what is missing, and says so" {
    local bin
    bin=$(bare_path)
    printf '#!/bin/sh\necho "apt-get $*" >&2\n' >"$bin/apt-get"
    printf '#!/bin/sh\n"$@"\n' >"$bin/sudo"
    printf '#!/bin/sh\n:\n' >"$bin/gcc"
    cp "$bin/gcc" "$bin/c++"
    chmod +x "$bin"/*
    run env -i PATH="$bin" sh scripts/install-deps.sh check
    [ "$status" -eq 0 ]
    has "$output" 'missing: clang-format, ' 'apt-get update' 'apt-get install -y' ' cppcheck' ' shellcheck'
    [[ $output != *'missing: g++'* ]]
}

@test "install-deps: nothing is missing, nothing is done" {
    local bin
    bin=$(bare_path)
    printf '#!/bin/sh\necho "apt-get $*"\n' >"$bin/apt-get"
    chmod +x "$bin/apt-get"
    run env PATH="$bin:$PATH" sh scripts/install-deps.sh build test
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "install-deps: what only some tests use is not missed where it is not to be had" {
    local bin
    bin=$(bare_path)
    printf '#!/bin/sh\ncase "$*" in *chromium*) exit 100 ;; esac\n' >"$bin/apt-get"
    printf '#!/bin/sh\n"$@"\n' >"$bin/sudo"
    chmod +x "$bin"/*
    run env -i PATH="$bin" sh scripts/install-deps.sh test
    [ "$status" -eq 0 ]
    has "$output" 'missing: bats, ' 'missing: chromium, ' 'chromium is not available: tests that need it are skipped'
    [[ $output != *'groff-base is not'* ]]
}

# ---- A first run ----

# first_run: runs scripts/run.sh with a substitute for scanbench that writes one row per run to
# --output and exits with the code $1 on the emulator; with `terminal` in one of 80 columns.
first_run() {
    tree=$BATS_TEST_TMPDIR/first
    mkdir -p "$tree/scripts"
    cp scripts/run.sh "$tree/scripts"
    cat >"$tree/scanbench" <<END
#!/bin/sh
for flag; do
    case \$flag in
    --device-info) exit 4 ;;
    --output=*) output=\${flag#*=} ;;
    --device=*) device=\${flag#*=} ;;
    esac
done
# The flags are those of the real program.
case " \$* " in *" --version "*) ;; *) "$(realpath "$scanbench")" --dry-run "\$@" >/dev/null || exit ;; esac
echo "a table of \$device"
printf 'device,n\n%s,1\n' "\$device" >"\$output"
[ \$device = cpu ] || exit $1
END
    chmod +x "$tree/scanbench"
    if [ "${2:-}" = terminal ]; then
        run env -C "$tree" script -qec 'stty cols 80; sh scripts/run.sh' /dev/null </dev/null
    else
        run env -C "$tree" sh scripts/run.sh
    fi
    echo "exit $status: $output"
}

@test "make run: a table, what it means, and one CSV file with a new name each time" {
    first_run 0
    [ "$status" -eq 0 ]
    has "$output" 'a table of cpu' 'a table of emulator' 'GB/s ' '% memcpy ' 'check '
    # Times of the emulator are not what to look at next.
    has "$output" './scanbench --counts ' './scanbench --check ' 'docs/teaching.md'
    [[ $output != *--block=32..1024* ]]
    first_run 0
    local files=("$tree"/results/local/*)
    [ "${#files[@]}" -eq 2 ]
    local file
    file=$(sed -n 's/^All columns of these rows: //p' <<<"$output")
    has "$output" "Charts of them: scripts/plot.sh $file"
    [ "$(cat "$tree/$file")" = $'device,n\ncpu,1\nemulator,1' ]
}

@test "make run: fits a terminal of 80 columns" {
    command -v script >/dev/null || skip "no script"
    local head word
    first_run 0 terminal
    [ "$status" -eq 0 ]
    has "$output" 'a table of cpu' 'a table of emulator' 'To go on:'
    [ "$(tr -d '\r' <<<"$output" | grep -v '^All columns of these rows' | awk 'length > 80')" = '' ]
    # What is explained of the counts is shown.
    head=$(script -qec "stty cols 80; $scanbench --device=emulator --algo=efficient-smem-padded --n=1000,2^12 --counts \
        --samples=1 --quiet --format=table" /dev/null </dev/null | grep '^algo')
    for word in $(tr -d '\r' <<<"$output" | sed -n '/^check/,/^All/s/^\([^ ]*\)  .*/\1/p'); do
        has "$head" "$word"
    done
}

@test "make run: what fails is not hidden" {
    first_run 3
    [ "$status" -eq 3 ]
    has "$output" 'All columns of these rows'
    first_run 130
    [ "$status" -eq 130 ]
    has "$output" 'The rows so far'
}

# ---- Tuning ----

# tune FLAG...: runs scripts/tune.sh with a substitute for scanbench that prints a row per call, and
# exits with $ends at the third.
tune() {
    : >"$BATS_TEST_TMPDIR/calls"
    cat >"$BATS_TEST_TMPDIR/measures" <<END
#!/bin/sh
echo >>"$BATS_TEST_TMPDIR/calls"
count=\$(wc -l <"$BATS_TEST_TMPDIR/calls")
echo device_name,op,type,n,algo,block,cache,time_ms,check
echo "A,scan,i32,\$count,lookback,256,cold,1,passed"
echo "A,scan,i32,\$count,lookback,256,hot,1,passed"
[ "\$count" -ne 3 ] || exit ${ends:-0}
END
    chmod +x "$BATS_TEST_TMPDIR/measures"
    mkdir -p "$BATS_TEST_TMPDIR/temporary"
    run --separate-stderr env TMPDIR="$BATS_TEST_TMPDIR/temporary" SCANBENCH="$BATS_TEST_TMPDIR/measures" \
        bash scripts/tune.sh "$@"
    echo "exit $status: $output; $stderr"
    calls=$(wc -l <"$BATS_TEST_TMPDIR/calls")
    kept=$(cat "$BATS_TEST_TMPDIR"/temporary/*/rows.csv 2>/dev/null || true)
}

# has_rows COUNT TEXT: the text is a header and two rows for each of COUNT calls.
has_rows() {
    [ "$(wc -l <<<"$2")" -eq $((2 * $1 + 1)) ]
    [ "$(grep -c ',n,' <<<"$2")" -eq 1 ]
    [ "$(grep -c ",$1,lookback" <<<"$2")" -eq 2 ]
}

@test "tune: the rows go to the file, the choices to stdout" {
    tune --output="$rows"
    [ "$status" -eq 0 ]
    [ "$output" = 'CHOICE(DEVICE_GPU, "A", OP_SCAN, 4, UINT64_MAX, "lookback", 256)' ]
    [ -z "$stderr" ]
    has_rows "$calls" "$(cat "$rows")"
    [ -z "$(ls "$BATS_TEST_TMPDIR/temporary")" ]
}

@test "tune: an output that cannot be written, or has rows, is one line before anything is measured" {
    local file
    echo kept >"$rows"
    for file in /nowhere/rows.csv . "$rows"; do
        tune --output="$file"
        [ "$status" -eq 2 ]
        [ "$calls" -eq 0 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        has "$stderr" "tune.sh: --output=$file: "
    done
    [ "$(cat "$rows")" = kept ]
    run --separate-stderr env PYTHONHOME=/nowhere bash scripts/tune.sh
    [ "$status" -eq 1 ]
    [ "$stderr" = "tune.sh: no python3 runs here; on Debian and Ubuntu: sh scripts/install-deps.sh report" ]
}

@test "tune: a disk that is full, a run that fails: what was measured is kept, and where is said" {
    [ -w /dev/full ] || skip "no /dev/full here"
    tune --output=/dev/full
    [ "$status" -eq 1 ]
    [ "$calls" -gt 10 ]
    has "$output" 'CHOICE(DEVICE_GPU'
    has_rows "$calls" "$kept"
    has "$stderr" '--output=/dev/full: it can no longer be written' "the rows are in $BATS_TEST_TMPDIR/temporary/"
    rm -r "$BATS_TEST_TMPDIR/temporary"

    ends=1 tune --output="$rows"
    [ "$status" -eq 1 ]
    has "$stderr" "tune.sh: the rows so far are in $rows"
    has_rows 3 "$(cat "$rows")"
    [ -z "$(ls "$BATS_TEST_TMPDIR/temporary")" ]

    ends=130 tune
    [ "$status" -eq 130 ]
    has "$stderr" "tune.sh: the rows are in $BATS_TEST_TMPDIR/temporary/"
    has_rows 3 "$kept"
}

# ---- The checks can fail ----

# bad_includes, with lines FILE INCLUDE on stdin: adds the includes to a tree that is otherwise
# right. Each is found, and nothing else.
bad_includes() {
    local file include
    tree=$BATS_TEST_TMPDIR/bad
    mkdir "$tree"
    cp -a bench cpu emulator examples kernels library timing scanbench.c "$tree"
    tee "$BATS_TEST_TMPDIR/added" | while read -r file include; do
        echo "#include $include" >>"$tree/$file"
    done
    run "$PWD/scripts/check-includes.sh" "$tree"
    echo "exit $status: $output"
    [ "$status" -eq 1 ]
    # FILE:LINE: INCLUDE: RULE
    diff <(sed -E 's/^([^:]+):[0-9]+: ([^:]+): .*/\1 \2/' <<<"$output" | sort -u) \
        <(sort -u "$BATS_TEST_TMPDIR/added")
}

@test "the include rules hold here" {
    run scripts/check-includes.sh
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "the include rules: algorithm.h and timing/ know libc only" {
    bad_includes <<'END'
bench/algorithm.h "input.h"
bench/algorithm.h <cuda_runtime.h>
bench/algorithm.h <jansson.h>
timing/statistics.h "../bench/cli/options.h"
timing/clock.h <vector>
timing/gpu_timer.cuh "../bench/device/backend.h"
END
}

@test "the include rules: nobody includes what is above or beside" {
    bad_includes <<'END'
bench/registry.c "device/backend.h"
bench/registry.c "own/own.h"
bench/registry.c "../library/scanbench.h"
library/scanbench.h <cuda_runtime.h>
library/interface.c "../bench/base/errors.h"
library/gpu.cu "../kernels/single_pass/lookahead.cuh"
examples/cpu.c "../library/handle.h"
bench/choice.c "table.h"
bench/choice.c "registry.h"
bench/base/sizes.h "../cli/options.h"
bench/base/sizes.h "../table.h"
bench/device/verify.c "../rows/report.h"
bench/device/input.h "../cli/options.h"
bench/rows/report.c "../cli/options.h"
bench/rows/columns.h "../device/backend.h"
bench/cli/options.h "../run/runner.h"
bench/cli/options.h "../worker/worker.h"
bench/worker/results.c "../run/runner.h"
bench/rows/report.c "../worker/results.h"
timing/statistics.c "../bench/base/errors.h"
bench/registry.c "../bench/rows/report.h"
bench/rows/report.c "../../bench/run/runner.h"
bench/device/verify.c "../own/own.h"
bench/worker/worker.c "../device/backend.h"
bench/run/runner.c "../../kernels/launch.cuh"
bench/cli/list.c "../worker/worker.h"
emulator/trace.cpp "../bench/base/errors.h"
emulator/emulator.h "../bench/algorithm.h"
END
}

@test "the include rules: no declaration by hand, no circle of headers" {
    tree=$BATS_TEST_TMPDIR/bad
    mkdir "$tree"
    cp -a bench cpu emulator examples kernels library timing scanbench.c "$tree"
    echo '#include "team.h"' >>"$tree/bench/device/team_device.h"
    run "$PWD/scripts/check-includes.sh" "$tree"
    [ "$status" -eq 1 ]
    [ "$(sort <<<"$output")" = "\
bench/device/team.h:1: headers include each other in a circle
bench/device/team_device.h:1: headers include each other in a circle" ]
    echo 'int run_plan(int argc, char **argv);' >>"$tree/bench/rows/report.c"
    echo 'extern struct session *session;' >>"$tree/bench/cli/list.c"
    run "$PWD/scripts/check-includes.sh" "$tree"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 2 ]
    has "${lines[0]}" 'extern struct session *session;: a declaration lies in the header of the file that defines it'
    has "${lines[1]}" 'int run_plan(int argc, char **argv);: a declaration lies in the header'
}

@test "the include rules: an algorithm knows algorithm.h and its folder" {
    bad_includes <<'END'
cpu/scan_serial.c "../bench/cli/options.h"
cpu/scan_serial.c "../bench/device/backend.h"
cpu/scan_serial.c "../timing/clock.h"
cpu/scan_serial.c "../kernels/warp.cuh"
cpu/scan_serial.c <jansson.h>
kernels/classic/scan_naive.cu "../bench/cli/options.h"
kernels/classic/scan_naive.cu "../bench/algorithm.h"
kernels/classic/scan_naive.cu "../timing/statistics.h"
kernels/classic/blelloch.cuh "../bench/rows/report.h"
kernels/launch.cuh "../bench/cli/options.h"
kernels/warp.cuh "classic/blelloch.cuh"
kernels/classic/blelloch.cuh "../sort/radix_rank.cuh"
kernels/sort/radix_rank.cuh "../devices/team.cuh"
kernels/devices/engine_peer.cu "../../bench/base/errors.h"
END
}

@test "the include rules: no algorithm includes another" {
    bad_includes <<'END'
kernels/classic/scan_efficient_smem.cu "scan_naive.cu"
kernels/single_pass/scan_one_wave.cu "../classic/scan_naive.cu"
cpu/scan_serial.c "scan_memcpy.c"
kernels/classic/blelloch.cuh "scan_naive.cuh"
END
    local file
    for file in kernels/classic/scan_efficient_smem.cu kernels/single_pass/scan_one_wave.cu cpu/scan_serial.c; do
        grep "^$file:.*no file includes another" <<<"$output"
    done
    for file in kernels/classic/scan_efficient_smem.cu kernels/single_pass/scan_one_wave.cu kernels/classic/blelloch.cuh; do
        grep "^$file:.*no algorithm includes another" <<<"$output"
    done
}

@test "the include rules: no algorithm declares another's descriptor" {
    tree=$BATS_TEST_TMPDIR/bad
    mkdir "$tree"
    cp -a bench cpu emulator examples kernels library timing scanbench.c "$tree"
    local adaptive=kernels/sort/sort_adaptive.cu
    {
        echo 'extern const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_msd);'
        echo 'extern const struct algorithm'
        echo '    gpu_sort_sample;'
        echo 'static const struct algorithm *msd = &DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_msd);'
        echo 'ALGORITHM_DESCRIPTOR(sort_onesweep);'
    } >>"$tree/$adaptive"
    echo 'extern "C" const struct engine gpu_peer;' >>"$tree/kernels/warp.cuh"
    echo 'extern const struct algorithm cpu_scan_simd;' >>"$tree/cpu/scan_serial.c"
    run "$PWD/scripts/check-includes.sh" "$tree"
    echo "exit $status: $output"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 6 ]
    [ "$(grep -c "^$adaptive:[0-9]*: .*: no algorithm declares a descriptor that is not its own$" <<<"$output")" -eq 4 ]
    has "$output" 'kernels/warp.cuh:' 'cpu/scan_serial.c:'
}

@test "the include rules: CUDA stays where it belongs" {
    bad_includes <<'END'
bench/run/runner.c <cuda_runtime.h>
bench/device/backend.h <cuda_runtime.h>
bench/device/elements.h <thrust/scan.h>
scanbench.c <cub/cub.cuh>
timing/gpu_state.c <cuda_runtime_api.h>
END
}

@test "make check fails for what is not formatted, and says where" {
    copy_tree
    cp -a .clang-format .clang-tidy .ci "$tree"
    # Fewer files make the check faster.
    find "$tree" -name '*.c' ! -name text.c -delete
    find "$tree" -name '*.bats' ! -name report.bats -delete
    printf 'static   int  unused( void ){return 1;}\nint *f(void)\n{\n    int *p = 0;\n    return p + *p;\n}\n' \
        >"$tree/bench/ugly.c"
    run sh -c 'cd "$1" && sh scripts/check.sh' _ "$tree"
    [ "$status" -eq 1 ]
    has "$output" 'FAILED  format' bench/ugly.c 'FAILED  static analysis: cppcheck' \
        'FAILED  static analysis: clang-tidy'
    [[ ${lines[-1]} == *" passed, 3 failed" ]]
}

# ---- The tests can fail ----

@test "the matrix finds a wrong algorithm, and a row that is missing" {
    run bash tests/matrix.sh "$broken" 'scan wrong-element'
    has "$output" '1..3' 'not ok 1 - scan wrong-element on cpu' 'not ok 2 - scan wrong-element on emulator' \
        'got' 'wanted'

    # A build that loses a row on the way.
    printf '#!/bin/sh\n"%s" "$@" | sed 5d\n' "$PWD/build/asan/scanbench" >"$BATS_TEST_TMPDIR/lossy"
    chmod +x "$BATS_TEST_TMPDIR/lossy"
    run bash tests/matrix.sh "$BATS_TEST_TMPDIR/lossy" 'scan serial'
    has "$output" 'not ok 1 - scan serial on cpu' 'were expected'
    run bash tests/matrix.sh "$BATS_TEST_TMPDIR/lossy" 'scan no-such-row'
    has "$output" '1..1' 'not ok 1 - the list lacks: all of scan no-such-row'
}

@test "the matrix accepts types that an algorithm's own file refuses, unless it refuses them all" {
    # refusing SED REASON: a build whose rows the sed command picks are skipped for that reason.
    refusing() {
        printf '#!/bin/bash\nset -o pipefail\n"%s" "$@" | sed "%s s/passed,$/skipped,%s/"\n' "$scanbench" "$1" "$2" >"$BATS_TEST_TMPDIR/refusing"
        chmod +x "$BATS_TEST_TMPDIR/refusing"
        run bash tests/matrix.sh "$BATS_TEST_TMPDIR/refusing" 'scan serial'
    }
    local text='the plain loop on one CPU thread' # which is in its file
    refusing '/,f32,/' "$text"
    has "$output" 'ok 1 - scan serial on cpu: '
    [[ $output != *'not ok'* ]]
    refusing '/,f32,/' 'what another file says'
    has "$output" 'not ok 1 - scan serial on cpu' 'what another file says'
    refusing '' "$text"
    has "$output" 'not ok 1 - scan serial on cpu'
    refusing '/,f32,[^,]*,[^,]*,1025,/' "$text" # not all rows of the type
    has "$output" 'not ok 1 - scan serial on cpu'
}

# suite TEXT...: runs a copy of run.sh over one suite that prints TEXT and exits.
suite() {
    tree=$BATS_TEST_TMPDIR/suites
    mkdir -p "$tree/tests" "$tree/build/asan/tests"
    cp tests/run.sh "$tree/tests"
    printf '#!/bin/sh\n%s\n' "$1" >"$tree/build/asan/tests/one_test"
    chmod +x "$tree/build/asan/tests/one_test"
    run env -C "$tree" UNIT_TESTS=one_test bash tests/run.sh unit/one_test
    echo "$output"
}

@test "make test: a suite that fails, crashes, stops short or runs nothing is a failure" {
    suite 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "2 passed, 0 failed" ]
    suite 'echo 1..3; echo ok 1 - a; echo not ok 2 - b; echo "ok 3 - c # SKIP why"; exit 1'
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    suite 'echo 1..2; echo ok 1 - a; kill -SEGV $$'
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    suite 'echo 1..1; echo ok 1 - a; exit 1'
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    suite 'echo 1..0'
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
    suite ':'
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "make test under nohup: tests set the signals that they send" {
    local path
    path=$(tr : '\n' <<<"$PATH" | grep -v bats-core | paste -sd:) # without what bats adds
    # timeout would set them itself, so it comes first.
    run env -i PATH="$path" SCANBENCH="$scanbench" timeout -s KILL 60 env --ignore-signal=HUP,INT,TERM,PIPE \
        bats --tap tests/commands/session.bats -f 'Ctrl-C, SIG|each row is'
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 1..3 ]
}

# ---- A new column ----

@test "a column is one line of columns.def" {
    local tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"
    cp -R bench "$tree"
    sed -i '/^\/\* The last is never empty/i COLUMN(grains, MEASURE, COUNT, "grains of sand")' "$tree/bench/rows/columns.def"
    cat >"$tree/grains.c" <<'END'
#include "bench/rows/columns.h"

int main(void)
{
    struct row row = empty_row();
    row.grains = 7;
    const struct row launch = row_without_measures(&row);
    print_columns(stdout);
    char text[32];
    column_text(&columns[COLUMN_COUNT - 2], &row, text, sizeof text);
    printf("%s grains, of a launch %d\n", text, (int)launch.grains);
}
END
    ${CC:-cc} -std=gnu11 -o "$tree/grains" "$tree/grains.c" "$tree/bench/rows/columns.c" "$tree/bench/base/terminal.c" -lm
    run "$tree/grains"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-3]} =~ ^grains\ +grains\ of\ sand$ ]] # before the last
    [ "${lines[-1]}" = "7 grains, of a launch -1" ]
}

# ---- Transcripts and pictures ----

@test "profile.sh: launches are named after their rows, and what counts none is left out" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    cat >"$BATS_TEST_TMPDIR/program" <<'END'
#!/bin/sh
case $* in
*columns=check,algo,launches*) printf '%s\n' check,algo,launches passed,libscanbench,0 passed,naive,2 skipped,cluster,0 passed,auto,1 ;;
*columns=kernel*) printf '%s\n' kernel step_kernel lookahead_kernel ;;
esac
END
    cat >"$BATS_TEST_TMPDIR/bin/ncu" <<'END'
#!/bin/sh
echo "$*" >"$SEEN"
metrics='"gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed"'
echo "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",$metrics"
echo '"","","","","ns","byte","byte","%"'
for kernel in step_kernel step_kernel lookahead_kernel; do
    echo "\"0\",\"$kernel\",\"(64, 1, 1)\",\"(2, 1, 1)\",\"1,000\",\"8\",\"9\",\"50\""
done
END
    chmod +x "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/bin/ncu"
    SEEN=$BATS_TEST_TMPDIR/seen SCANBENCH=$BATS_TEST_TMPDIR/program PATH=$BATS_TEST_TMPDIR/bin:$PATH \
        run scripts/profile.sh traffic --algo=own --n=1000
    [ "$status" -eq 0 ]
    [ "$(cut -d , -f 1-6 <<<"$output" | tail -n 3)" = "naive,1,step_kernel,2,64,1000
naive,2,step_kernel,2,64,1000
auto,1,lookahead_kernel,2,64,1000" ]
    [[ $(<"$BATS_TEST_TMPDIR/seen") == *'--algo=own --n=1000 --algo=naive,auto' ]]
}

@test "pictures: a module of Python that is missing is one line that says what installs it" {
    : >"$BATS_TEST_TMPDIR/selenium.py"
    cat >"$BATS_TEST_TMPDIR/sitecustomize.py" <<'END'
import sys

class Missing:
    @staticmethod
    def find_spec(name, *_):
        if name == "PIL":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing)
END
    run --separate-stderr env PYTHONPATH="$BATS_TEST_TMPDIR" sh scripts/pictures.sh
    echo "$stderr"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" PIL 'sh scripts/install-deps.sh pictures'
}

@test "pictures: transcripts and pictures are what a terminal shows, once no row is noisy" {
    local tree built
    small_repository
    echo 2 >"$tree/.git/noisy"
    take
    # Twice in vain, once, and once for the picture.
    [ "$(wc -l <"$tree/tries")" -eq 4 ]
    diff "$tree/README.md" <(printf '%s\n' 'Before.' '```console' '$ ./scanbench --n=1' 'columns: 80' "scanbench v0.2.0 $built, a CPU" \
        'serial  4.1 us  ± 0.9 %   passed' '```' 'Between.' '```console' '$ ./scanbench --wrong' \
        'scanbench: --wrong: no such flag' '$ echo $?' '2' '```' 'After.')
    has "$(cat "$tree/docs/pictures/table.png")" $'\e[1mscanbench v0.2.0' 'passed'
    [ -z "$(python3 -B scripts/transcripts.py "$tree")" ]
    [ "$(awk '$1 == "commit" { print $2 }' "$tree/docs/pictures/taken.txt")" = "$built" ]
}

@test "pictures: refused for other sources, another program, a load, noise, a failure" {
    local tree built load
    small_repository
    echo g0000000 >"$tree/.git/built"
    refuses 1 "built from g0000000, and HEAD is $built"
    echo "$built-dirty" >"$tree/.git/built"
    refuses 1 "built from $built-dirty, and HEAD is $built"
    echo "$built" >"$tree/.git/built"
    echo more >>"$tree/docs/measuring.md"
    refuses 1 'changes that are not committed'
    git -C "$tree" checkout -q docs
    load=0.6 refuses 1 'the load is 0.6 per processor' --wait=0
    echo 99 >"$tree/.git/noisy"
    refuses 1 './scanbench --n=1: 5 times a row was marked'
    echo 0 >"$tree/.git/noisy"
    refuses 2 '--anyway: it must be' --anyway
    refuses 2 '--wait=x: it must be' --wait=x
    refuses 2 'that is the repository' --anyway="$tree"
    sed -i '/^\$ echo/d' "$tree/README.md"
    git -C "$tree" -c user.name=a -c user.email=a@example.org commit -qam Second
    echo "g$(git -C "$tree" rev-parse --short=7 HEAD)" >"$tree/.git/built"
    refuses 1 './scanbench --wrong: exit 2'
}

@test "pictures: --anyway takes them into another folder, where they are of no commit" {
    local tree built load
    small_repository
    echo 99 >"$tree/.git/noisy"
    echo more >>"$tree/docs/measuring.md"
    load=9 take --anyway="$BATS_TEST_TMPDIR/tried"
    git -C "$tree" diff --quiet README.md
    [ ! -e "$tree/docs/pictures" ]
    [ -s "$BATS_TEST_TMPDIR/tried/docs/pictures/table.png" ]
    has "$(cat "$BATS_TEST_TMPDIR/tried/README.md")" "$built" '0.9 %!'
    run python3 -B scripts/transcripts.py "$BATS_TEST_TMPDIR/tried"
    [ "$status" -eq 1 ]
    has "$output" 'anyway is not a clean commit'
}
