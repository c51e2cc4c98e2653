#!/usr/bin/env bats
# library: make library and its installation, the examples, and programs of earlier versions.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# An independent make, whatever make runs this test; without CUDA, as on any machine.
make_library() {
    env -u MAKEFLAGS -u MAKELEVEL make -j2 NVCC= BUILD=build/library-test "$@"
}

setup_file() {
    prefix=$BATS_FILE_TMPDIR/prefix
    export prefix PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make_library install-library PREFIX="$prefix"
}

# What examples/cpu.c prints.
expect_example() {
    [ "$output" = "\
input        3   1   0   7   0   0   4   1   6   3   0   9
exclusive    0   3   4   4  11  11  11  15  16  22  25  25
inclusive    3   4   4  11  11  11  15  16  22  25  25  34
nonzero      3   1   7   4   1   6   3   9
sorted       0   0   0   0   1   1   3   3   4   6   7   9
from         2   4   5  10   1   7   0   9   6   8   3  11" ]
}

@test "installed: header, libraries, pkg-config and CMake files; one version everywhere" {
    local version
    version=$(sed -n 's/^VERSION := //p' Makefile)
    [ "$(cd "$prefix" && find . ! -type d | sort | paste -sd' ')" = "\
./include/scanbench.h ./lib/cmake/scanbench/scanbench-config-version.cmake \
./lib/cmake/scanbench/scanbench-config.cmake ./lib/libscanbench.a ./lib/libscanbench.so ./lib/libscanbench.so.1 \
./lib/libscanbench.so.$version ./lib/pkgconfig/scanbench.pc" ]
    [ "$(sed -nE 's/^#define SCANBENCH_VERSION_(MAJOR|MINOR|PATCH) //p' library/scanbench.h | paste -sd.)" = "$version" ]
    [ "$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/scanbench.pc")" = "$version" ]
    [ "$(readelf -d "$prefix/lib/libscanbench.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = libscanbench.so.1 ]
}

@test "symbols: the interface and nothing else, in both libraries" {
    local declared
    declared=$(grep -oE '\bscanbench_[a-z_]+\(' library/scanbench.h | tr -d '(' | sort -u)
    [ "$(wc -l <<<"$declared")" -ge 12 ]
    [ "$(nm -D --defined-only "$prefix/lib/libscanbench.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)" = \
        "$declared" ]
    [ "$(nm -g --defined-only "$prefix/lib/libscanbench.a" | awk 'NF == 3 { print $3 }' | sort)" = "$declared" ]
}

@test "it prints nothing, ends no program, and needs the C library only" {
    local needed
    needed=$(nm -D --undefined-only "$prefix/lib/libscanbench.so" | awk '{ sub(/@.*/, "", $NF); print $NF }')
    [ -n "$needed" ]
    ! grep -xE '_?exit|abort|__assert_fail|.*printf(_chk)?|f?puts|putchar|f?write|perror|stdout|stderr|json_.*|.*tbb.*|_Z.*' <<<"$needed" |
        grep -vxE 'v?snprintf|__snprintf_chk' || false
    needed=$(readelf -d "$prefix/lib/libscanbench.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    ! grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux.*)\.so' <<<"$needed" || false
}

@test "pkg-config: examples/cpu.c, with the shared and with the static library" {
    command -v pkg-config >/dev/null || skip "no pkg-config here"
    cd "$BATS_TEST_TMPDIR"
    # Words of flags, on purpose.
    # shellcheck disable=SC2046
    cc -Wall -Wextra -Werror -o shared "$BATS_TEST_DIRNAME/../../examples/cpu.c" $(pkg-config --cflags --libs scanbench)
    run ./shared
    expect_example
    # shellcheck disable=SC2046
    cc -o static "$BATS_TEST_DIRNAME/../../examples/cpu.c" $(pkg-config --cflags scanbench) \
        "$prefix/lib/libscanbench.a" $(pkg-config --static --libs-only-l scanbench | sed 's/-lscanbench//')
    LD_LIBRARY_PATH='' run ./static
    expect_example
}

@test "a prefix with spaces, quotes and a dollar sign: installed, used, uninstalled, and nothing else touched" {
    local place=$BATS_TEST_TMPDIR/here root before
    mkdir "$place"
    echo kept >"$place/it's"
    root="$place/it's \"my\" \$HOME"
    # In make a dollar sign is written twice.
    local where=(DESTDIR="${root//\$/\$\$}" PREFIX='/two  programs')
    before=$(ls -A . build/library-test/generated)
    make_library -o all -o scanbench install "${where[@]}"
    [ "$(find "$place" -mindepth 1 -maxdepth 1 | sort)" = "$place/it's"$'\n'"$root" ]
    root+='/two  programs'
    [ "$("$root/bin/scanbench" --version)" = "$(./scanbench --version)" ]
    head -n 1 "$root/share/man/man1/scanbench.1" | grep -q '^\.TH '
    cc -o "$BATS_TEST_TMPDIR/linked" examples/cpu.c -I"$root/include" -L"$root/lib" -lscanbench
    LD_LIBRARY_PATH=$root/lib run "$BATS_TEST_TMPDIR/linked"
    expect_example
    make_library uninstall "${where[@]}"
    [ -z "$(find "$root" ! -type d)" ]
    [ ! -e "$root/lib/cmake/scanbench" ]
    [ "$(cat "$place/it's")" = kept ]
    [ "$(ls -A . build/library-test/generated)" = "$before" ]
}

# pkg-config has no way to write a quote in a path, and CMake's makefiles none for a dollar sign.
@test "pkg-config and CMake find a library in a folder with spaces" {
    command -v pkg-config >/dev/null || skip "no pkg-config here"
    local root="$BATS_TEST_TMPDIR/my  own programs"
    echo kept >"$BATS_TEST_TMPDIR/my"
    make_library install-library PREFIX="$root"
    # pkg-config escapes the spaces, as for a shell.
    PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --cflags --libs scanbench |
        xargs cc -o "$BATS_TEST_TMPDIR/linked" examples/cpu.c
    LD_LIBRARY_PATH=$root/lib run "$BATS_TEST_TMPDIR/linked"
    expect_example
    if command -v cmake >/dev/null; then
        cmake -S tests/library -B "$BATS_TEST_TMPDIR/built" -DCMAKE_PREFIX_PATH="$root" -DEXAMPLES="$PWD/examples" >/dev/null
        cmake --build "$BATS_TEST_TMPDIR/built" >/dev/null
        run "$BATS_TEST_TMPDIR/built/with_static"
        expect_example
    fi
    make_library uninstall PREFIX="$root"
    [ -z "$(find "$root" ! -type d)" ]
    [ "$(cat "$BATS_TEST_TMPDIR/my")" = kept ]
}

@test "C++: the header compiles there too" {
    c++ -Wall -Wextra -Werror -pedantic -x c++ -fsyntax-only -I"$prefix/include" - <<<'
        #include <scanbench.h>
        int main() { return scanbench_version() == SCANBENCH_VERSION ? 0 : 1; }'
}

@test "CMake: find_package finds this version by a version or a range, and none that is newer or has another first number" {
    command -v cmake >/dev/null || skip "no cmake here"
    cmake -S tests/library -B "$BATS_TEST_TMPDIR" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/examples" >/dev/null
    cmake --build "$BATS_TEST_TMPDIR" >/dev/null
    for linked in shared static; do
        run "$BATS_TEST_TMPDIR/with_$linked"
        expect_example
    done
    local wanted other=$BATS_TEST_TMPDIR/other
    mkdir "$other"
    for wanted in '' 1 1.0.0 0.9...1.1 '1.0...<2'; do
        sed "s/scanbench 1.0/scanbench $wanted/" tests/library/CMakeLists.txt >"$other/CMakeLists.txt"
        cmake -S "$other" -B "$other" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/examples"
    done
    for wanted in 0.2 1.1 2.0 '0.1...<1.0' 1.1...2.0; do
        sed "s/scanbench 1.0/scanbench $wanted/" tests/library/CMakeLists.txt >"$other/CMakeLists.txt"
        run cmake -S "$other" -B "$other" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/examples"
        [ "$status" -ne 0 ]
        has "$output" 'compatible with requested version'
    done
}

@test "examples for a GPU, against the emulator: on a stream, and in a graph" {
    run build/asan/tests/example_gpu
    [ "$status" -eq 0 ]
    [ "$output" = "100000 elements, 99900 kept, from -250 to 749" ]
    run build/asan/tests/example_graph
    [ "$status" -eq 0 ]
    [ "$(tail -n 1 <<<"$output")" = "50000 elements of 5: 250000" ]
    [ "${#lines[@]}" -eq 5 ]
}

@test "the test for a GPU, against the emulator" {
    run build/asan/tests/library_emulated
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "all correct" ]
}

# Debian's python3 if the first on PATH lacks the modules; none: the test is skipped.
python_with() {
    for python in python3 /usr/bin/python3; do
        ! $python -c "import $1" 2>/dev/null || return 0
    done
    skip "no $1 here"
}

@test "Python: the example" {
    python_with numpy
    PYTHONPATH=python run "$python" -B examples/arrays.py
    [ "$output" = "\
highest so far [[3.0, 5.0, 5.0, 8.0, 8.0], [9.0, 9.0, 9.0, 9.0, 9.0]]
sums of rows   [[3.0, 8.0, 12.0, 20.0, 26.0], [9.0, 16.0, 23.0, 25.0, 29.0]]
ranking        [0, 2, 1, 4, 3]
average        [1.5, 3.25, 3.625, 5.8125, 5.90625]
not 7          [3.0, 5.0, 4.0, 8.0, 6.0, 9.0, 2.0, 4.0]" ]
}

@test "compare_python.py: every type that is asked for, beside numpy; others are named" {
    python_with numpy
    run --separate-stderr "$python" -B scripts/compare_python.py --n=5000 --samples=1 --type=f16,u64,f64
    [ "$status" -eq 0 ]
    # Of each sum in three forms, a maximum and a sort, by two packages; two recurrences by the library alone.
    [ "$(grep -c ',passed$' <<<"$output")" -eq 32 ]
    [ "${#lines[@]}" -eq 33 ]
    for type in f16 u64 f64; do
        [ "$(grep -c "^sort,.*,$type,.*,passed$" <<<"$output")" -eq 2 ]
    done
    run --separate-stderr "$python" -B scripts/compare_python.py --type=i32,bf16
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ "$stderr" = *"--type=bf16 is not known; it must be a list of i32, u32"* ]]
}

@test "Python: results, refused arrays, streams, forked processes" {
    python_with numpy
    run "$python" -B tests/library/python_test.py
    echo "$output"
    [ "$status" -eq 0 ]
    # Some are for the next test.
    [[ ${lines[-1]} = OK* ]]
}

@test "Python: the library's side of a GPU, against the emulator" {
    python_with numpy
    # The C++ library, too, or the sanitizer finds no exceptions.
    LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
        SCANBENCH_EMULATED=1 SCANBENCH_LIBRARY=build/asan/tests/libtested.so \
        run "$python" -B tests/library/python_test.py Emulated
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = OK ]
}

@test "Python: make wheel, without a network; installed, it calls the library" {
    local version
    python_with 'numpy, setuptools, wheel, pip'
    version=$(sed -n 's/^VERSION := //p' Makefile)
    make_library wheel
    $python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$BATS_TEST_TMPDIR" \
        "build/library-test/scanbench-$version-py3-none-any.whl"
    cd "$BATS_TEST_TMPDIR"
    [ "$(PYTHONPATH=. $python -B -c 'import numpy, scanbench
print(scanbench.__version__, scanbench.cumsum(numpy.arange(5)).tolist())')" = "$version [0, 1, 3, 6, 10]" ]
}

# compile NAME: tests/library/NAME.c, linked with the shared library.
compile() {
    cc -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/$1" -I"$prefix/include" "tests/library/$1.c" -L"$prefix/lib" \
        -lscanbench -lpthread -ldl
}

@test "dlclose after a call on several threads: the shared library, and a plugin with the static one inside" {
    local needs
    command -v pkg-config >/dev/null || skip "no pkg-config here"
    compile unload
    read -ra needs < <(pkg-config --static --libs scanbench | sed 's/-lscanbench//')
    cc -shared -o "$BATS_TEST_TMPDIR/plugin.so" -Wl,--whole-archive "$prefix/lib/libscanbench.a" \
        -Wl,--no-whole-archive "${needs[@]}"
    for library in "$prefix/lib/libscanbench.so" "$BATS_TEST_TMPDIR/plugin.so"; do
        run "$BATS_TEST_TMPDIR/unload" "$library"
        echo "$library: exit $status; $output"
        [ "$status" -eq 0 ]
        [ "$output" = "loaded and unloaded 30 times" ]
    done
}

@test "fork: a child can call it, whatever the parent has called" {
    compile fork
    run "$BATS_TEST_TMPDIR/fork"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "children of fork() can call it" ]
}

@test "stack: what the header says is enough for the caller" {
    long_test
    compile stack
    run "$BATS_TEST_TMPDIR/stack"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "enough stack" ]
}

@test "a program of version 0.1.0 runs with this library" {
    cc -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/old" tests/library/old_program.c -L"$prefix/lib" -lscanbench
    run "$BATS_TEST_TMPDIR/old"
    [ "$output" = "as in version 0.1.0" ]
    [ "$status" -eq 0 ]
}
