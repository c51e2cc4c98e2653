#!/bin/sh
# grade.sh [--expect=OP:NAME,...] FILE...: checks each my_scan.cu, and prints a line of CSV: the
# file, how many test cases passed, and how many there are. Those are six for each name of --expect;
# without it, the names are those of the skeleton beside this script. What was found lies beside
# each file: my_scan.checks.txt for the student, my_scan.checks.xml for other programs. SCANBENCH
# names the program, if it is not the scanbench of PATH.
cases_of_name=6 # classes of sizes, each a test case of --junit
lines='s/^SCANBENCH_\(HOST_\)\{0,1\}\([A-Z]*\)("\([^"]*\)".*/\2:\3/p'

scanbench=$(command -v "${SCANBENCH:-scanbench}") || {
    echo "grade.sh: ${SCANBENCH:-scanbench} is not installed; set SCANBENCH to the program" >&2
    exit 1
}
case $scanbench in
/*) ;;
*) scanbench=$PWD/$scanbench ;;
esac
case ${1-} in
--expect=*) expected=$(echo "${1#--expect=}" | tr ',' ' ') && shift ;;
*) expected=$(sed -n "$lines" "$(dirname "$0")/my_scan.cu" | tr 'A-Z\n' 'a-z ') ;;
esac

# A run that ended by itself, without a defect or with some, has a file that says so. Any other earns
# nothing: the code of the submission may have written to the file and killed the program.
check() { # FILE CHECKS
    rm -f "$2.xml"
    timeout 600 "$scanbench" --check --strict --quiet --timeout=20 --algo="$1" --junit="$2.xml" >"$2.txt" 2>&1
    case $? in
    0 | 3) ;;
    *) rm -f "$2.xml" ;;
    esac
}

# How many cases of the expected names passed: those that have no failure within.
passed() { # CHECKS
    for name in $expected; do
        grep -F "<testcase classname=\"$(echo "$name" | tr : .)\" " "$1.xml" 2>/dev/null
    done | grep -c '/>$'
}

for file; do
    name=./$(basename "$file")
    checks=${name%.*}.checks
    all=$(($(echo "$expected" | wc -w) * cases_of_name))
    of_file=$(cd "$(dirname "$file")" && check "$name" "$checks" && passed "$checks")
    case $file in
    *[,\"]*) file=\"$(echo "$file" | sed 's/"/""/g')\" ;;
    esac
    echo "$file,${of_file:-0},$all"
done
