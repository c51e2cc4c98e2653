#!/usr/bin/env bats
# own: --algo=./my_scan.cu, files of the user's.

# setup() of helpers sets variables; each test sets its own.
# shellcheck disable=SC2154,SC2030,SC2031
load helpers

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# source NAME LINE...: writes a file and prints its path.
source_file() {
    local path=$BATS_TEST_TMPDIR/$1
    shift
    printf '%s\n' "$@" >"$path"
    echo "$path"
}

# A scan of one thread.
plain_scan() {
    source_file "$1" '#include <scanbench_own.h>' \
        '__global__ void one_thread(const int *in, int *out, int n)' '{' \
        '    for (int i = 0, sum = 0; i < n; sum += in[i++])' '        out[i] = sum;' '}' \
        'void scan(const int *in, int *out, int n, cudaStream_t stream)' '{' \
        '    one_thread<<<1, 1, 0, stream>>>(in, out, n);' '}' \
        "SCANBENCH_SCAN(\"$2\", scan)"
}

# expected FILE: what its first line says, and its flags in the array `flags`.
read_expectations() {
    expected=$(sed -n 's|^// expect: ||p' "$1")
    read -ra flags <<<"$(sed -n 's|^// flags: ||p' "$1")"
}

# rows_of FILE N: runs it and prints check and reason of each row.
rows_of() {
    quick --algo="$1" --n="$2" "${flags[@]}" --format=csv --columns=check,reason 2>"$BATS_TEST_TMPDIR/stderr" |
        tail -n +2
}

@test "own: sources in the manner of their users' pass, at a power of two and beside it" {
    local file expected flags counted
    while read -r file; do
        read_expectations "$file"
        counted=$(rows_of "$file" 1500,2048 | sed 's/,.*//' | sort | uniq -c | sed -E 's/^ +//' | paste -sd, | sed 's/,/, /g')
        echo "$file: $counted; expected: $expected"
        [ "$counted" = "$expected" ]
    done < <(share tests/own/right/*.cu tests/own/right/*/*.cu)
    [ "$(quick --algo=tests/own/right/naive.cu --n=1..4096*8 --columns=check --format=csv | uniq)" = $'check\npassed' ]
}

@test "own: wrong sources are found, each for its reason" {
    local file expected flags text
    while read -r file; do
        read_expectations "$file"
        [ -n "${LONG-}" ] || [[ $expected != *'time limit'* ]] || continue # which takes 10 s
        [[ ${flags[*]} == *--n=* ]] || flags+=(--n=1000)
        text=$(rows_of "$file" 1000)
        echo "$file: $text; expected: $expected"
        while read -r part; do
            [[ $text == *"$part"* ]]
        done < <(tr '|' '\n' <<<"$expected")
    done < <(share tests/own/wrong/*.cu)
}

@test "own: a result says whether nothing was written, and whether only the order is wrong" {
    local file
    file=$(source_file a.cu '#include <scanbench_own.h>' 'void nothing(const int *in, int *out, int n) {}' \
        'void copy(const int *in, int *out, int n) { cudaMemcpy(out, in, n * 4, cudaMemcpyDeviceToDevice); }' \
        'int unordered(int n, int *out, const int *in) {' \
        '    int kept = 0; for (int i = n; i-- > 0;) if (in[i]) out[kept++] = in[i]; return kept; }' \
        'int lost(int n, int *out, const int *in) { int kept = unordered(n, out, in); out[0] = -1; return kept; }' \
        'SCANBENCH_SCAN("nothing", nothing)' 'SCANBENCH_SORT("copy", copy)' 'SCANBENCH_SORT("nothing", nothing)' \
        'SCANBENCH_HOST_COMPACT("unordered", unordered)' 'SCANBENCH_HOST_COMPACT("lost", lost)')
    run quick --algo="$file" --op=scan,sort,compact --n=100 --type=i32 --input=uniform --columns=op,algo,check,reason --format=csv
    grep -qE '^scan,nothing,failed,"output\[0\]: got [0-9]+, wanted 0 \(as if nothing was written\)"$' <<<"$output"
    grep -qE '^sort,copy,failed,"output\[[0-9]+\]: got [0-9]+, wanted at least [0-9]+; the right elements, not in order"$' <<<"$output"
    [[ $(grep '^sort,nothing,failed,' <<<"$output") != *'right elements'* ]]
    grep -qE '^compact,unordered,failed,"output\[0\]: got [0-9]+, wanted [0-9]+; the right elements, in another order"$' <<<"$output"
    grep -qE '^compact,lost,failed,"output\[0\]: got -1, wanted [0-9]+"$' <<<"$output"
    run "$scanbench" --check --algo="$file" --op=compact --n=100 --input=uniform
    has "$output" 'the right elements in another order' 'Do places come from an atomic? Threads come in any order.'
    run "$scanbench" --check --algo="$file" --op=sort --n=100 --input=uniform
    has "$output" 'sort copy: 1 defect' 'the right elements, not in order' 'Does each pass keep the order of equal digits?'
}

@test "own: submissions with the same names make one table, as docs/teaching.md says" {
    local student loop folder=$BATS_TEST_TMPDIR
    for student in alice bob carol; do
        mkdir -p "$folder/submissions/$student"
        mv "$(plain_scan my_scan.cu mine)" "$folder/submissions/$student"
    done
    sed -i 's/sum +=/sm +=/' "$folder/submissions/bob/my_scan.cu"
    ln -s "$(realpath "$scanbench")" "$folder/scanbench"
    loop=$(sed -n '/^for folder/,/^done/{s/--n=[^ ]*/--n=100 --quiet/;p}' docs/teaching.md)
    run bash -c "cd '$folder' && PATH=.:\$PATH && $loop"
    has "$output" 'submissions/bob/my_scan.cu' 'does not compile it'
    [ "$(read_csv "$folder/course.csv" algo check label)" = $'mine\tpassed\tstudent=alice\nmine\tpassed\tstudent=carol' ]
    "$PWD/scripts/report.sh" --output="$folder/page.html" "$folder/course.csv"
}

@test "own: after a row that is wrong one line says how to find out more" {
    local file=tests/own/wrong/own_overrun.cu
    run --separate-stderr "$scanbench" --samples=1 --algo="$file" --device=emulator --n=999,1000 --columns=reason --format=csv
    echo "$output; $stderr"
    [ "$status" -eq 1 ]
    has "$output" 'run: wrote outside of an array in sum_blocks: right past the end of a buffer of 60 bytes'
    [[ $output != *'device was lost'* ]]
    [ "$(grep -c 'what is wrong' <<<"$stderr")" -eq 1 ]
    has "$stderr" "scanbench: what is wrong: $scanbench --check --algo=$file"
    run --separate-stderr quick --algo="$file" --device=emulator --n=1000 --columns=reason --format=csv
    [ -z "$stderr" ]
}

@test "own: rows as any other: cold and hot, kernels, beside scanbench's, from the list to CSV" {
    local file
    file=$(plain_scan a.cu mine)
    [ "$(quick --algo="$file",naive,memcpy --cache=cold,hot --n=1000 --columns=algo,cache,check --format=csv | sort)" = "\
algo,cache,check
memcpy,cold,passed
memcpy,hot,passed
mine,cold,passed
mine,hot,passed
naive,cold,passed
naive,hot,passed" ]
    [ "$(quick --algo="$file" --kernels --n=100 --columns=algo,kernel,grid,launch_block,launches --format=csv | tail -n +2)" = "\
mine,,,,1
mine,one_thread,1,1," ]
    run "$scanbench" --list --algo="$file"
    [[ ${lines[1]} == scan*mine*gpu*user*'yours: line 11 of'* ]]
    [[ $("$scanbench" --dry-run --algo="$file" --n=100 2>/dev/null) == *'scan '*mine*emulator*i32* ]]
    [ "$(quick --algo="$file" --type=i32,f32 --inclusive --n=100 --columns=check,reason --format=csv | tail -n +2)" = "\
skipped,its file says that it is exclusive
skipped,its file has it for --type=i32" ]
}

@test "own: what a function cannot do is skipped for that reason" {
    local file
    file=$(plain_scan a.cu mine)
    sed -i 's/scan)$/scan, powers_of_two, at_least(64), at_most(1 << 10))/' "$file"
    [ "$(quick --algo="$file" --n=32,64,100,1024,2048 --columns=check,reason --format=csv | tail -n +2)" = "\
skipped,its file says that it takes at least 64 elements
passed,
skipped,its file says that it takes powers of two only
passed,
skipped,its file says that it takes at most 1024 elements" ]
}

@test "own: what it prints is not among the rows" {
    local course="tests/own/right/course dir/it's efficient.cu"
    run --separate-stderr quick --algo="$course" --n=1000 --columns=algo,check --format=csv
    [ "$output" = $'algo,check\ncourse-efficient,passed\ncourse-cpu,passed' ]
    [[ $stderr == *'scanned 1000'* ]]
    quick --algo="$course" --n=1000 --columns=algo,check --output="$rows" >"$BATS_TEST_TMPDIR/stdout" 2>/dev/null
    [ "$(wc -l <"$rows")" -eq 3 ]
    [ ! -s "$BATS_TEST_TMPDIR/stdout" ]
}

@test "own: a compiler's errors are those of the user's file and line, exit 2" {
    local file
    file=$(source_file 'my scan.cu' '#include <scanbench_own.h>' 'void scan(const int *in, int *out, int n)' '{' \
        '    int blocks =' '        1;' '    none<<<blocks,' '        32>>>(in);' '    out[0] = foo;' '}' \
        'SCANBENCH_SCAN("mine", scan)')
    run --separate-stderr "$scanbench" --algo="$file"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    has "$stderr" "$file:6: error: " "$file:8: error: " "scanbench: --algo=$file: "
    [ "${#stderr_lines[@]}" -lt 20 ]
}

@test "own: a launch of what is not __global__ is one line, which asks for no GPU" {
    local file
    file=$(source_file a.cu '#include <scanbench_own.h>' 'void copy(const int *in, int *out) { *out = *in; }' \
        'void scan(const int *in, int *out, int n)' '{' '    copy<<<1, 1>>>(in, out);' '}' 'SCANBENCH_SCAN("mine", scan)')
    fails 2 --algo="$file"
    [[ $stderr == *"$file:5: copy is launched, but not declared __global__" ]]
}

@test "own: what the emulator cannot run is one line: file, line, what" {
    local head='#include <scanbench_own.h>' line='SCANBENCH_SCAN("mine", scan)' file
    file=$(source_file a.cu "$head" '__device__ void wait()' '{' '    asm volatile("bar.sync 0;");' '}')
    fails 2 --algo="$file"
    [[ $stderr == *"$file:4: the emulator cannot run inline PTX; --device=gpu can" ]]
    file=$(source_file b.cu "$head" '#include <thrust/scan.h>' "$line")
    fails 2 --algo="$file"
    [[ $stderr == *"$file:2: the emulator has no Thrust "* ]]
    file=$(source_file c.cu "$head" 'texture<int, 1> table;' "$line")
    fails 2 --algo="$file"
    [[ $stderr == *"$file:2: the emulator cannot run a texture; "* ]]
    source_file inner.cuh '__shared__ int outside;' >/dev/null
    file=$(source_file d.cu "$head" '#include "inner.cuh"' "$line")
    fails 2 --algo="$file"
    [[ $stderr == *"/inner.cuh:1: "*"__shared__ variable that is not declared in a function"* ]]
}

@test "own: usage errors name the file and say what would be right" {
    local file
    fails 2 --algo=./none.cu
    [[ $stderr == *'--algo=./none.cu: cannot read it: No such file'* ]]
    fails 2 --algo=./README.md
    [[ $stderr == *'neither a CUDA source, .cu, nor a shared object, .so' ]]
    fails 2 ./my_scan.cu
    [[ $stderr == *'unexpected argument "./my_scan.cu"; did you mean --algo=./my_scan.cu?'* ]]
    file=$(source_file none.cu '#include <cuda_runtime.h>')
    fails 2 --algo="$file"
    [[ $stderr == *'it has no SCANBENCH_SCAN("name", function)'* ]]
    fails 2 --algo="$(plain_scan a.cu naive)"
    [[ $stderr == *'a.cu:11: scan naive is the name of an algorithm of scanbench'* ]]
    fails 2 --algo="$(plain_scan a.cu 'my scan')"
    [[ $stderr == *'a.cu:11: "my scan" is no name for rows'* ]]
    fails 2 --algo="$(plain_scan a.cu mine)","$(plain_scan b.cu mine)"
    [[ $stderr == *'b.cu:11: scan mine is the name of an algorithm of '*'a.cu; give this one another, or measure one file per call, with --label' ]]
    fails 2 --algo="$(plain_scan a.cu mine)" --op=sort
    [[ $stderr == *'it belongs to --op=scan' ]]
    fails 2 --algo=tests/own/right/radix.cu
    [[ $stderr == *'is not an algorithm of --op=scan, the default; add --op=sort' ]]
    fails 2 --algo="$(plain_scan a.cu mine)" --device=cpu
    [[ $stderr == *'add --device=emulator' ]]
    file=$(plain_scan a.cu mine)
    CXX='/no/such/compiler -O2' fails 2 --algo="$file"
    [[ $stderr == *'CXX="/no/such/compiler -O2" names no program that can compile it' ]]
    CXX=/tmp fails 2 --algo="$file"
    run --separate-stderr env PATH=/none "$scanbench" --algo="$file"
    [[ $stderr == *'there is no C++ compiler to compile it with; install one, or set CXX' ]]
    fails 2 --algo="$file" --compile-flags="-DA='1 -O0"
    has "$stderr" "--compile-flags=-DA='1 -O0" 'a quote that is not closed'
    run --separate-stderr "$scanbench" --algo="$file" --compile-flags="$(printf -- '-DA%d ' $(seq 300))"
    has "$stderr" 'cannot be run: it has too many arguments'
    printf '%s\n' 'void other(const int *, int *, int)' '{' '}' 'SCANBENCH_SCAN("mine", other)' >>"$file"
    fails 2 --algo="$file"
    [[ $stderr == *'a.cu:15: line 11 has scan mine for i32 already; give this one another name' ]]
}

@test "own: names of files may have any characters; CXX may have words; names of libraries are words, too" {
    local program name file
    program=$(realpath "$scanbench")
    for name in -o.cu @x.cu $'two\nlines "of" it\'s.cu'; do
        file=$(plain_scan "$name" mine)
        sed -i -- 's/sum = 0/sum = 0, cub = 1, thrust = cub ? cub : cub/; s/out\[i\] = sum/out[i] = cub ? sum : thrust/' "$file"
        (cd "$BATS_TEST_TMPDIR" && [ "$(CXX="$(command -v g++) -DWORDS='b c'" "$program" --algo="$name" --n=100 \
            --samples=1 --quiet --columns=check --format=csv)" = $'check\npassed' ])
    done
}

@test "own: signatures that say too little or too much are explained by the compiler" {
    local signature wanted file
    while IFS='|' read -r signature wanted; do
        file=$(source_file a.cu '#include <scanbench_own.h>' "$signature" 'SCANBENCH_SCAN("mine", f)')
        run --separate-stderr "$scanbench" --algo="$file"
        echo "$signature: $stderr"
        [ "$status" -eq 2 ]
        [[ $stderr == *"$wanted"* ]]
        [ "$(grep -c 'error: ' <<<"$stderr")" -eq 1 ] # nothing else that would lead astray
    done <<'END'
void f(int *in, int *out, int n) {}|one array is the input, const, and one is the output, not const
void f(const int *in, int n) {}|no parameter is the output
void f(const int *in, int *out) {}|no parameter is n
void f(const int *in, int *out, int n, int block) {}|one integer is n, and there is another
void f(const long double *in, long double *out, int n) {}|no rows for this type
void f(float *out, const int *in, int n) {}|the input and the output have different types
void f(const int *in, int *out, int n, double x) {}|neither an array, n, a cudaStream_t nor a scanbench_context
END
}

@test "own: a forgotten #include of the header is one line" {
    local file
    file=$(source_file a.cu 'void f(const int *in, int *out, int n) {}' 'SCANBENCH_HOST_SCAN("mine", f)')
    fails 2 --algo="$file"
    [ "$stderr" = "scanbench: --algo=$file: it has SCANBENCH_HOST_SCAN without #include <scanbench_own.h>; add that line" ]
}

@test "own: compiled once for the same text, compiler and flags; anew for others" {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    local file
    file=$(plain_scan a.cu mine)
    source_file size.h '#define SIZE 1' >/dev/null
    sed -i '1s/^/#include "size.h"\n/' "$file"
    run_it() {
        quick --algo="$file" --n=100 --columns=check --format=csv "$@" | tail -n +2
        find "$XDG_CACHE_HOME/scanbench" -type f | wc -l
    }
    [ "$(run_it)" = $'passed\n1' ]
    [ "$(CXX=$(command -v g++) run_it)" = $'passed\n1' ]
    touch "$file"
    [ "$(run_it)" = $'passed\n1' ]
    source_file size.h '#define SIZE 2' >/dev/null
    sed -i 's/out\[i\] = sum/out[i] = sum * SIZE/' "$file"
    [ "$(run_it)" = $'failed\n2' ]
    source_file size.h '#define SIZE 1' >/dev/null
    [ "$(run_it)" = $'passed\n3' ]
    [ "$(run_it --compile-flags="-DNAME='a b' -O0")" = $'passed\n4' ]
    # Whatever the umask, the result is one that only the user can write.
    [ "$(umask 002 && run_it --compile-flags=-DOTHER)" = $'passed\n5' ]
    [ -z "$(find "$XDG_CACHE_HOME/scanbench" -type f -perm /022)" ]
}

@test "own: files in the cache that others can write are not loaded" {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    local file object
    file=$(plain_scan a.cu mine)
    quick --algo="$file" --n=100 --output=/dev/null
    object=$(echo "$XDG_CACHE_HOME"/scanbench/*.so)
    [ "$(stat -c %a "$XDG_CACHE_HOME/scanbench")" = 700 ]
    echo garbage >"$object"
    chmod g+w "$object"
    [ "$(quick --algo="$file" --n=100 --columns=check --format=csv)" = $'check\npassed' ]
    [ "$(find "$object" -perm /022)" = "" ]
    chmod o+w "$XDG_CACHE_HOME/scanbench"
    fails 2 --algo="$file" --n=100
    [[ $stderr == *"$XDG_CACHE_HOME/scanbench: others can write it"* ]]
    chmod go-w "$XDG_CACHE_HOME/scanbench"
    chmod o+w "$XDG_CACHE_HOME"
    fails 2 --algo="$file" --n=100
    [[ $stderr == *"$XDG_CACHE_HOME/scanbench: anybody can replace it"* ]]
    chmod +t "$XDG_CACHE_HOME"
    quick --algo="$file" --n=100 --output=/dev/null
    # What counts is the folder that a link names.
    mkdir "$BATS_TEST_TMPDIR/links" "$BATS_TEST_TMPDIR/open"
    chmod o+w "$BATS_TEST_TMPDIR/open"
    ln -s "$BATS_TEST_TMPDIR/open/scanbench" "$BATS_TEST_TMPDIR/links/scanbench"
    mkdir "$BATS_TEST_TMPDIR/open/scanbench"
    XDG_CACHE_HOME=$BATS_TEST_TMPDIR/links fails 2 --algo="$file" --n=100
    [[ $stderr == *"$BATS_TEST_TMPDIR/open/scanbench: anybody can replace it"* ]]
    CCACHE_DISABLE=1 XDG_CACHE_HOME='' HOME='' fails 2 --algo="$file" --n=100
    [[ $stderr == *'set XDG_CACHE_HOME to a folder' ]]
}

@test "own: several processes compile the same file at once" {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    local file i
    file=$(plain_scan a.cu mine)
    for i in 1 2 3; do
        quick --algo="$file" --n=100 --columns=check --format=csv >"$BATS_TEST_TMPDIR/$i" &
    done
    wait
    for i in 1 2 3; do
        [ "$(cat "$BATS_TEST_TMPDIR/$i")" = $'check\npassed' ]
    done
    [ "$(find "$XDG_CACHE_HOME/scanbench" -type f | wc -l)" -eq 1 ]
}

@test "own: a shared object is loaded as it is" {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    quick --algo="$(plain_scan a.cu mine)" --n=100 --output=/dev/null
    cp "$XDG_CACHE_HOME"/scanbench/*.so "$BATS_TEST_TMPDIR/lib.so"
    [ "$(quick --algo="$BATS_TEST_TMPDIR/lib.so" --n=100 --columns=algo,check --format=csv)" = $'algo,check\nmine,passed' ]
    echo garbage >"$BATS_TEST_TMPDIR/lib.so"
    fails 2 --algo="$BATS_TEST_TMPDIR/lib.so"
    [[ $stderr == *'lib.so: cannot load it: '* ]]
}

@test "own: an installed program needs no source tree" {
    local root=$BATS_TEST_TMPDIR/root file
    env -u MAKEFLAGS -u MAKELEVEL make -o all -o ./scanbench -o install-library install DESTDIR="$root" \
        PREFIX=/opt/here >/dev/null
    cp tests/own/right/groups.cu "$BATS_TEST_TMPDIR/groups.cu"
    cd "$BATS_TEST_TMPDIR"
    [ "$("$root/opt/here/bin/scanbench" --algo=./groups.cu --n=1000 --samples=1 --quiet --columns=check --format=csv)" = \
        $'check\npassed' ]
    mv "$root/opt/here/share" "$root/opt/here/elsewhere"
    run --separate-stderr "$root/opt/here/bin/scanbench" --algo=./groups.cu
    [ "$status" -eq 2 ]
    [[ $stderr == *'scanbench_own.h and the emulator'*'are not where the program is'* ]]
}

@test "own: docs/own.md: the example does what the page shows" {
    run quick --algo=examples/my_scan.cu,naive,memcpy --device=emulator --n=2^12,100003 --columns=algo,n,check --format=csv
    [ "$output" = "algo,n,check
naive,4096,passed
mine,4096,passed
memcpy,4096,passed
naive,100003,passed
mine,100003,passed
memcpy,100003,passed" ]
    # The table that the page shows, without times and what differs between builds.
    shown() {
        sed -nE '/^algo /,/^memcpy /p' | sed -E 's/[0-9.]+ [mun]s|[0-9.]+ ?%//g; s/ +/ /g'
    }
    quick --algo=examples/my_scan.cu,naive-smem,memcpy --device=emulator --n=5000 --kernels --format=table |
        shown >"$BATS_TEST_TMPDIR/now"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/now")" -eq 10 ]
    shown <docs/own.md | diff "$BATS_TEST_TMPDIR/now" -
}
