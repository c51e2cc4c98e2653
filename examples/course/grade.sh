#!/bin/sh
# grade.sh [--expect=OP:NAME,...] [--kind=KIND] FILE...: checks each my_scan.cu, and prints a line of
# CSV: the file, how many test cases passed, and how many there are. Those are six for each name of
# --expect; without it, the names are those of the skeleton beside this script. With --kind=exclusive
# or --kind=inclusive only scans of that kind count; without it, scans of the kind that their lines
# say, and those of the skeleton's names must be exclusive. What was found lies beside each file:
# my_scan.checks.txt for the student, my_scan.checks.xml for other programs. SCANBENCH names the
# program, if it is not the scanbench of PATH.
#
# First the skeleton is checked: it must lie beside this script. What keeps this script from grading
# is no fault of a submission: then there is a line on stderr instead, and the exit code is 1.
cases_of_name=6    # classes of sizes, each a test case of --junit
most_printed=20000 # bytes that the student gets to see of what the submission prints
lines='s/^SCANBENCH_\(HOST_\)\{0,1\}\([A-Z]*\)("\([^"]*\)".*/\2:\3/p'

fail() { # CODE MESSAGE
    echo "grade.sh: $2" >&2
    exit "$1"
}

skeleton=$(dirname -- "$0")/my_scan.cu
expected='' kind=''
while :; do
    case ${1-} in
    --help)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --expect=*) expected=$(echo "${1#--expect=}" | tr ',' ' ') ;;
    --kind=exclusive | --kind=inclusive) kind=$1 ;;
    --kind=*) fail 2 "$1 must be --kind=exclusive or --kind=inclusive" ;;
    -*) fail 2 "$1 is not known; it must be --expect=OP:NAME,..., --kind=KIND, --help or a file" ;;
    *) break ;;
    esac
    shift
done
if [ -z "$expected" ]; then
    expected=$(sed -n "$lines" "$skeleton" | tr 'A-Z\n' 'a-z ')
    kind=${kind:---kind=exclusive}
fi
for name in $expected; do
    case $name in
    scan:?* | compact:?* | reduce:?* | sort:?*) ;;
    *) fail 2 "--expect: $name is no OP:NAME, where OP is scan, compact, reduce or sort" ;;
    esac
done
[ $# -gt 0 ] || fail 2 "no file is named; grade.sh --help says more"

scanbench=$(command -v "${SCANBENCH:-scanbench}") ||
    fail 1 "${SCANBENCH:-scanbench} is not installed; set SCANBENCH to the program"
case $scanbench in
/*) ;;
*) scanbench=$PWD/$scanbench ;;
esac
unset SCANBENCH_FLAGS # they are of whoever runs this, and would check something else
trap 'exit 130' INT
said=$("$scanbench" --check --quiet --n=0 --algo="$skeleton" 2>&1) ||
    fail 1 "not even the skeleton can be checked here: $said"

# A run that ended by itself, without a defect or with some, has a file that says so. Any other earns
# nothing: the code of the submission may have written to the file and killed the program. Students
# run what the text says under the program's usual name. The text begins with what was found; what
# the submission itself prints, for each of its calls, would bury that.
check() { # FILE CHECKS
    rm -f "$2.xml"
    # $kind is no word if it is empty.
    # shellcheck disable=SC2086
    timeout --foreground -k 10 600 "$scanbench" --check --strict --quiet --timeout=20 $kind \
        --algo="$1" --junit="$2.xml" >"$2.txt" 2>"$2.printed"
    code=$?
    sed -i 's/^\( *again: \).*[^ ] --check /\1scanbench --check /' "$2.txt"
    case $code in
    0 | 3) name_missing "$2" ;;
    *) rm -f "$2.xml" ;;
    esac
    head -c "$most_printed" "$2.printed" >>"$2.txt"
    printed=$(wc -c <"$2.printed")
    [ "$printed" -le "$most_printed" ] ||
        printf '...\n%d bytes were printed; these were the first %d\n' "$printed" "$most_printed" >>"$2.txt"
    rm "$2.printed"
}

cases_of() { # NAME CHECKS
    grep -F "<testcase classname=\"$(echo "$1" | tr : .)\" " "$2.xml" 2>/dev/null
}

# Tells the student which of the expected names the file does not have.
name_missing() { # CHECKS
    for name in $expected; do
        cases_of "$name" "$1" >/dev/null ||
            echo "${name%%:*} ${name#*:}: missing: no line has this name${kind:+, or it is not ${kind#--kind=}}"
    done >>"$1.txt"
}

# How many cases of the expected names passed: those that have no failure within.
passed() { # CHECKS
    for name in $expected; do
        cases_of "$name" "$1"
    done | grep -c '/>$'
}

# Is there space for what is found? A full disk is no fault of a submission.
has_space() { # FOLDER CHECKS
    (cd -- "$1" && head -c 100000 /dev/zero >"$2.space" && rm "$2.space") 2>/dev/null && return
    rm -f "$1/$2.space"
    return 1
}

status=0
all=$(($(echo "$expected" | wc -w) * cases_of_name))
for file; do
    folder=$(dirname -- "$file") name=./$(basename -- "$file")
    checks=${name%.*}.checks
    if ! [ -f "$file" ] || ! [ -r "$file" ] || ! (: >"$folder/$checks.txt") 2>/dev/null; then
        echo "grade.sh: $file: it is no file that can be read, or its folder cannot be written to" >&2
        status=1
        continue
    fi
    if ! has_space "$folder" "$checks"; then
        echo "grade.sh: $file: the disk of its folder is full" >&2
        status=1
        continue
    fi
    of_file=$(cd -- "$folder" && check "$name" "$checks" && passed "$checks")
    case $file in
    *[,\"]*) file=\"$(echo "$file" | sed 's/"/""/g')\" ;;
    esac
    echo "$file,${of_file:-0},$all" 2>/dev/null || fail 1 "$file: its score cannot be written"
done
exit "$status"
