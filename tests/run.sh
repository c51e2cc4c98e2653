#!/bin/bash
# run.sh [-jN] [SUITE...]: runs all test suites, or those whose names match one of the
# patterns, N at a time (default: one per processor and one more, as some tests wait), and prints a
# line for each. LONG=1 runs what `make test` leaves to `make test-long` as well. The
# last line is `N passed, N failed` over all suites. Exits with 1 if a test failed, or
# if a suite crashed, ran fewer tests than it announced, or ran none.
#
# A suite is a program that prints TAP: "1..N", then "ok" or "not ok" and a number
# for each test. Its output is kept in build/test-logs/.
set -u

# Tests run more threads than processors, so waiting threads must yield.
export OMP_WAIT_POLICY=passive

logs=build/test-logs
jobs=$(($(nproc 2>/dev/null || echo 2) + 1))

# A suite that measures time runs after the others, alone. So does the matrix, which uses all processors.
alone="commands/measuring matrix"

# What these test most is emulated kernels, which only `make test-long` compiles with sanitizers: without,
# they take half as long.
of_kernels="sorts_test team_test"

# The slowest suites start first, so that no processor idles at the end.
slow=$'commands/several\nunit/library_test\npage\ncommands/check\nunit-fast/sorts_test\nunit-fast/team_test\nunit/sorts_test\nmutants\ncommands/own\ncommands/rows\ncommands/tooling\ncommands/ptx\ncommands/results\ncommands/faults'

# names: prints the name of every suite.
names() {
    local test file
    for file in tests/commands/*.bats; do
        echo "commands/$(basename "$file" .bats)"
    done
    for test in ${UNIT_TESTS:-$(cd build/asan/tests && ls -d -- *_test *_test_cuda)}; do
        [[ -z ${LONG-} && " $of_kernels " == *" $test "* ]] || echo "unit/$test"
    done
    for test in tests/unit/emulator*_test.cpp; do
        echo "unit-fast/$(basename "$test" .cpp)"
    done
    for test in $of_kernels; do
        echo "unit-fast/$test"
    done
    echo page
    echo trace_page
    echo mutants
    echo matrix
}

# Tests start Python hundreds of times. What a version manager puts on PATH in its place takes ten
# times as long to start.
interpreter=$(python3 -c 'import sys; print(sys.executable)') && PATH=$(dirname "$interpreter"):$PATH

# The first python3 on PATH may lack Debian's modules.
python_with() {
    if python3 -c "import $1" 2>/dev/null; then echo python3; else echo /usr/bin/python3; fi
}

run_suite() {
    case $1 in
    unit/*) CMOCKA_MESSAGE_OUTPUT=TAP "build/asan/tests/${1#*/}" ;;
    unit-fast/*) CMOCKA_MESSAGE_OUTPUT=TAP "build/broken/tests/${1#*/}" ;;
    commands/*) bats --tap --timing "tests/commands/${1#*/}.bats" ;;
    page) "$(python_with selenium)" -B tests/page_test.py ;;
    trace_page) "$(python_with selenium)" -B tests/trace_page_test.py ;;
    mutants) python3 tests/mutants.py --tap --quick ;;
    matrix) FAST=./scanbench bash tests/matrix.sh build/asan/scanbench ;;
    esac
}

count() {
    grep -cE "$1" "$2" || true
}

# Prints why a suite is broken regardless of its tests; nothing if it is not.
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

# Prints the line of a suite, and writes its counts next to its log.
run_and_count() {
    local suite=$1 log code=0 good bad left_out broken start=$SECONDS note=
    log=$logs/${suite//\//-}.log
    run_suite "$suite" >"$log" 2>&1 </dev/null || code=$?
    # cmocka says "not ok" of what it skips.
    sed -i -E 's/^not (ok [0-9]+ # SKIP)/\1/' "$log"
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
        # Lines that are not about passed tests explain the failures.
        grep -vE '^(ok |1\.\.)' "$log" | tail -n 60 | sed 's/^/        /'
    fi
    echo "$good $bad $left_out" >"$log.count"
}

# in_background SUITE: starts once fewer than $jobs others run; prints its output in one piece.
in_background() {
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    (
        said=$(run_and_count "$1")
        echo "$said"
    ) &
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

case ${1:-} in
-j*)
    jobs=${1#-j}
    shift
    ;;
esac
mkdir -p "$logs"
rm -f "$logs"/*.count
chosen=()
while read -r suite; do
    ! wanted "$suite" "$@" || chosen+=("$suite")
done < <(names | grep -xF "$slow"; names | grep -vxF "$slow")

for suite in "${chosen[@]}"; do
    [[ " $alone " == *" $suite "* ]] || in_background "$suite"
done
wait
for suite in "${chosen[@]}"; do
    [[ " $alone " != *" $suite "* ]] || run_and_count "$suite"
done

passed=0
failed=0
skipped=0
if [ "${#chosen[@]}" -eq 0 ]; then
    echo "no suite is called $*"
    failed=1
fi
# A suite without counts has failed unnoticed.
for suite in "${chosen[@]}"; do
    read -r good bad left_out 2>/dev/null <"$logs/${suite//\//-}.log.count" || { good=0 bad=1 left_out=0; }
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
done
[ "$skipped" -eq 0 ] || echo "$skipped skipped; build/test-logs says why"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
