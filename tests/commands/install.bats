#!/usr/bin/env bats
# install: make install and uninstall, the manual page, completions, make dist.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# An independent make, whatever make runs this test.
plain_make() {
    env -u MAKEFLAGS -u MAKELEVEL make "$@"
}

# flags: prints every flag that --help names, one per line.
flags() {
    "$scanbench" --help | sed -nE 's/^ +(-[A-Za-z], )?(--[a-z-]+).*/\2/p'
}

# generated WHAT: prints the file that holds it.
generated() {
    "$scanbench" --generate="$1" >"$BATS_TEST_TMPDIR/$1"
    echo "$BATS_TEST_TMPDIR/$1"
}

@test "install: program, manual page and completions; uninstall leaves nothing" {
    local root=$BATS_TEST_TMPDIR/root
    # Uses the existing program: this test is not about building it.
    plain_make -o all -o ./scanbench -o install-library install DESTDIR="$root" PREFIX=/opt/here
    [ "$("$root/opt/here/bin/scanbench" --version)" = "$(./scanbench --version)" ]
    [ "$(cd "$root/opt/here" && find . -path ./share/scanbench -prune -o -type f -print | sort | paste -sd' ')" = "\
./bin/scanbench ./include/scanbench_own.h ./share/bash-completion/completions/scanbench \
./share/fish/vendor_completions.d/scanbench.fish ./share/man/man1/scanbench.1 ./share/zsh/site-functions/_scanbench" ]
    cmp own/scanbench_own.h "$root/opt/here/include/scanbench_own.h"
    cmp emulator/headers/cooperative_groups.h "$root/opt/here/share/scanbench/emulator/headers/cooperative_groups.h"
    [ -z "$(find "$root" -type f -empty)" ]
    plain_make uninstall DESTDIR="$root" PREFIX=/opt/here
    [ -z "$(find "$root" -type f)" ]
    [ ! -e "$root/opt/here/share/scanbench" ]
}

@test "install: PREFIX=~/.local is below HOME, from shells that leave ~ as it is, too" {
    run plain_make -n -o all -o ./scanbench -o install-library install HOME=/home/somebody PREFIX='~/.local'
    has "$output" "'/home/somebody/.local/bin/scanbench'"
    [[ $output != *"~"* ]]
}

@test "the manual page: every flag, column and exit status" {
    local page flag column
    page=$(sed 's/\\-/-/g' "$(generated man)")
    [ "$(flags | wc -l)" -gt 40 ]
    has "$(tr '\n' ' ' <<<"$page")" 'operations, then types, operators, kinds, values, inputs, maxima, fractions kept, segments, sizes, devices'
    for flag in $(flags); do
        [[ $page == *"$flag\\fR"* ]] || {
            echo "no $flag"
            return 1
        }
    done
    for column in $("$scanbench" --list-columns | awk '{ print $1 }'); do
        grep -qxF "\\fB$column\\fR" <<<"$page"
    done
    has "$page" '.SH EXIT STATUS' '\fB130\fR' '.SH EXAMPLES' '.SH SYNOPSIS'
}

@test "deb: a package that has the program and passes lintian without errors" {
    long_test
    command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no dpkg here"
    # As from `make -j3 deb`, whose pipe of jobs is not handed on.
    run env MAKEFLAGS='-j3 --jobserver-auth=97,98' DEBFULLNAME='A Packager' DEBEMAIL=packager@example.org \
        sh scripts/deb.sh 1.2.3 ./scanbench build
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output != *jobserver* ]]
    [[ $output != *'E: '* ]]
    dpkg-deb --extract "${lines[-1]}" "$BATS_TEST_TMPDIR/deb"
    [ "$("$BATS_TEST_TMPDIR/deb/usr/bin/scanbench" --version)" = "$(./scanbench --version)" ]
    has "$(dpkg-deb --info "${lines[-1]}")" 'Version: 1.2.3-1' 'libjansson4' 'libc6' \
        'Maintainer: A Packager <packager@example.org>'
    [ -f "$BATS_TEST_TMPDIR/deb/usr/share/man/man1/scanbench.1.gz" ]
    rm "${lines[-1]}"
}

@test "the manual page: no warnings, and it reads as --help does" {
    command -v groff >/dev/null || skip "no groff here"
    run groff -man -Tutf8 -ww "$(generated man)"
    [ "$status" -eq 0 ]
    [[ $output != *warning* ]]
    local text
    text=$(groff -man -Tascii -P-cbou "$(generated man)")
    has "$text" '-a, --algo=LIST' '--npot[=RULE]' "('efficient*')" '2^12..2^29' 'EXIT STATUS'
}

# complete_line LINE: prints what bash offers for the last word, one per line.
complete_line() {
    bash -c '
        . "$1"
        # Splits the line as bash does: at blanks, with = as a separate word.
        read -ra COMP_WORDS <<<"$(sed "s/=/ = /g" <<<"$2")"
        [[ $2 != *[\ =] ]] || COMP_WORDS+=("")
        [[ $2 != *= ]] || unset "COMP_WORDS[-1]"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        compopt() { :; }
        _scanbench
        printf "%s\n" "${COMPREPLY[@]}"' _ "$(generated bash)" "$1"
}

# words_of FILE: the names that the table's lines have for users.
words_of() {
    sed -nE 's/^[A-Z]+\([A-Z0-9]+, *([a-z0-9]+),.*/\1/p' "bench/$1"
}

@test "bash completes flags, words, items of lists, algorithms, columns and files" {
    local flag
    for flag in $(flags); do
        complete_line "scanbench $flag" | grep -qE "^$flag=?\$"
    done
    [ "$(complete_line 'scanbench --list-c')" = --list-columns ]
    [ "$(complete_line 'scanbench --dev' | paste -sd' ')" = '--device= --device-info' ]
    [ "$(complete_line 'scanbench --op=' | paste -sd' ')" = "$(words_of operations.def | paste -sd' ')" ]
    [ "$(complete_line 'scanbench --type=i' | paste -sd' ')" = "$(words_of types.def | grep '^i' | paste -sd' ')" ]
    [ "$(complete_line 'scanbench -t f6')" = f64 ]
    [ "$(complete_line 'scanbench --cache cold,h')" = cold,hot ]
    [ "$(complete_line 'scanbench --algo=serial,naive' | paste -sd' ')" = 'serial,naive serial,naive-smem' ]
    [ "$(complete_line 'scanbench --algo=libr')" = library ]
    [ "$(complete_line 'scanbench -c time_m' | paste -sd' ')" = 'time_ms time_min_ms time_max_ms time_mean_ms' ] ||
        has "$(complete_line 'scanbench -c time_m')" time_ms time_mean_ms
    [ "$(complete_line 'scanbench --output=READ')" = README.md ]
    [ -z "$(complete_line 'scanbench --n=2')" ]
}

@test "zsh and fish take their completions, which have every flag" {
    local shell flag found=
    for flag in $(flags); do
        grep -qE -- "--${flag#--}(=-?)?[[{]|,--${flag#--}(=-?)?}" "$(generated zsh)" || {
            echo "zsh: no $flag"
            return 1
        }
        grep -qE -- "-l ${flag#--} " "$(generated fish)"
    done
    for shell in zsh fish; do
        command -v $shell >/dev/null || continue
        found+=" $shell"
        $shell -n "$(generated $shell)"
    done
    [ -n "$found" ] || skip "neither zsh nor fish here; the flags are there"
}

@test "--generate: one of four" {
    fails 2 --generate=tcsh
    has "$stderr" --generate=tcsh 'man, bash, zsh or fish'
}

@test "dist: a tree that builds without git, and knows its commit" {
    git rev-parse HEAD >/dev/null 2>&1 || skip "not a git checkout"
    local commit
    commit=$(git rev-parse HEAD | cut -c1-7)
    plain_make dist
    tar -xzf build/scanbench-*.tar.gz -C "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"/scanbench-*
    GIT_CEILING_DIRECTORIES=$BATS_TEST_TMPDIR plain_make -s NVCC= build/generated/version.h
    grep -q "SCANBENCH_COMMIT \"g$commit\"" build/generated/version.h
    # A repository around it is another project's.
    git init -q "$BATS_TEST_TMPDIR"
    sh scripts/version.sh 1.2.3 cc '' | grep -q "SCANBENCH_COMMIT \"g$commit\""
    [ -f kernels/classic/scan_naive.cu ] && [ -x scripts/run.sh ] && [ -f README.md ]
    plain_make -n NVCC= >/dev/null
}
