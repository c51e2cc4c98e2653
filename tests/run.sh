#!/bin/bash
# run.sh [SUITE...]: runs the test suites, or those whose names match one of the
# patterns given, and prints a line for each. Its last line is `N passed, N failed`
# over all of them; it ends with 1 if anything failed, or a suite crashed, or one
# ran fewer tests than it announced, or none at all.
#
# A suite is a program that prints TAP: "1..N", then "ok" or "not ok" and a number
# for each test. What it printed is in build/test-logs/.
set -u

# Tests run more threads than there are processors: who waits lets others run.
export OMP_WAIT_POLICY=passive

logs=build/test-logs
passed=0
failed=0
skipped=0

# names: every suite, in the order of running: quick and basic ones first.
names() {
    local test file
    for test in ${UNIT_TESTS:-$(cd build/asan/tests && ls -d -- *_test *_test_cuda)}; do
        echo "unit/$test"
    done
    echo unit-fast/emulator_test
    for file in tests/*.bats; do
        echo "commands/$(basename "$file" .bats)"
    done
    echo mutants
    echo matrix
}

run_suite() {
    case $1 in
    unit/*) CMOCKA_MESSAGE_OUTPUT=TAP "build/asan/tests/${1#*/}" ;;
    unit-fast/*) CMOCKA_MESSAGE_OUTPUT=TAP "build/broken/tests/${1#*/}" ;;
    commands/*) bats --tap "tests/${1#*/}.bats" ;;
    mutants) python3 tests/mutants.py --tap --quick ;;
    matrix) bash tests/matrix.sh build/asan/scanbench ;;
    esac
}

count() {
    grep -cE "$1" "$2" || true
}

# Why a suite is broken, whatever its tests say; empty: it is not.
what_is_broken() {
    local code=$1 log=$2 good=$3 bad=$4 announced
    announced=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$log" | head -n 1)
    if [ "$((good + bad))" -eq 0 ]; then
        echo "no test was run (exit $code)"
    elif [ "${announced:-none}" != "$((good + bad))" ]; then
        echo "$((good + bad)) tests of ${announced:-an unknown number} were run (exit $code)"
    elif [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "exit $code, though no test failed"
    fi
}

run_and_count() {
    local suite=$1 log code=0 good bad left_out broken start=$SECONDS note=
    log=$logs/${suite//\//-}.log
    run_suite "$suite" >"$log" 2>&1 || code=$?
    bad=$(count '^not ok ' "$log")
    left_out=$(count '^ok .*# [Ss][Kk][Ii][Pp]' "$log")
    good=$(count '^ok ' "$log")
    broken=$(what_is_broken "$code" "$log" "$good" "$bad")
    good=$((good - left_out))
    [ -z "$broken" ] || bad=$((bad + 1))

    [ "$left_out" -eq 0 ] || note=", $left_out skipped"
    printf '%-7s %-28s %4d passed, %d failed%s  (%d s)\n' \
        "$([ "$bad" -eq 0 ] && echo ok || echo FAILED)" "$suite" "$good" "$bad" "$note" \
        "$((SECONDS - start))"
    if [ "$bad" -gt 0 ]; then
        [ -z "$broken" ] || echo "        $broken"
        # What is not about a test that passed says why others failed.
        grep -vE '^(ok |1\.\.)' "$log" | tail -n 60 | sed 's/^/        /'
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
}

wanted() {
    local suite=$1 pattern
    shift
    [ $# -gt 0 ] || return 0
    for pattern; do
        # A pattern is meant as one.
        # shellcheck disable=SC2053
        [[ $suite == *$pattern* ]] && return 0
    done
    return 1
}

mkdir -p "$logs"
suites=0
while read -r suite; do
    if wanted "$suite" "$@"; then
        run_and_count "$suite"
        suites=$((suites + 1))
    fi
done < <(names)

if [ "$suites" -eq 0 ]; then
    echo "no suite is called $*"
    failed=1
fi
[ "$skipped" -eq 0 ] || echo "$skipped skipped; build/test-logs says why"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
