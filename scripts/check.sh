#!/bin/sh
# check.sh: static checks of the sources. The last line is `N passed, N failed`;
# exits with 1 if anything failed.
set -u

passed=0
failed=0
jobs=$(nproc 2>/dev/null || echo 2)
generated=build/check/generated

# check WHAT COMMAND...: runs a check; prints its output only if it fails.
check() {
    what=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok      $what"
        passed=$((passed + 1))
    else
        echo "FAILED  $what"
        echo "$output" | sed 's/^/        /'
        failed=$((failed + 1))
    fi
}

# Files in C, but those that need CUDA's headers.
c_sources() {
    sh scripts/sources.sh | grep '\.c$' | xargs grep -L '<cuda_runtime\.h>'
}

# Prints one line per place; `make format` fixes them all.
format() {
    findings=$(sh scripts/sources.sh | xargs clang-format --dry-run -Werror 2>&1) && return
    echo "$findings" | grep ': error: '
    return 1
}

# Suppressed: cppcheck takes a pointer obtained from the address of a variable for that address
# itself, and functions that one macro defines, all in one place, for each other. It checks a file anew
# for each macro that may be defined, so it is told what the machine and the compiler are. Its own -j
# gains nothing.
cppcheck_c() {
    c_sources | xargs -P "$jobs" -n 12 cppcheck --std=c11 --enable=warning,performance,portability --quiet \
        --error-exitcode=1 --inline-suppr --suppress=returnDanglingLifetime \
        --suppress=ctunullpointer:cpu/sort_radix.c --suppress=ctunullpointer:bench/types.def \
        -USCANBENCH_TABLE \
        -D__x86_64__ -D__linux__ -U__clang__ -U__aarch64__ -I "$generated"
}

# clang-tidy reports the number of suppressed findings on stderr, and findings on stdout.
# The analyzer follows the paths of a function through 20000 states: with the 225000 that it takes
# by default, it takes several times as long and finds the same.
clang_tidy() {
    # The inner shell expands them.
    # shellcheck disable=SC2016
    c_sources | xargs -P "$jobs" -n 3 sh -c \
        'clang-tidy --quiet "$@" -- -Xclang -analyzer-config -Xclang max-nodes=20000 \
            -std=gnu11 -fopenmp -I "$0" -I library 2>/dev/null' "$generated"
}

shell_scripts() {
    printf '%s\n' .ci/run examples/course/*.sh scripts/*.sh tests/*.sh tests/commands/*.bash tests/commands/*.bats |
        xargs -P "$jobs" -n 6 shellcheck -x
}

mkdir -p "$generated"
sh scripts/version.sh check cc '' >"$generated/version.h"

check "format: clang-format" format
check "static analysis: cppcheck" cppcheck_c
check "static analysis: clang-tidy" clang_tidy
check "scripts: shellcheck" shell_scripts
check "who includes whom: scripts/check-includes.sh" sh scripts/check-includes.sh

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
