#!/bin/sh
# step.sh COUNTER TOTAL WHAT FILE COMMAND...: runs a command of the build, and prints a short line
# in its place: "[ 12/241] CC    bench/table.c". Prints the command itself only if it fails.
#
# COUNTER is a file with a line for each step so far. TOTAL is the number of files to compile, 0 if
# it is not known. QUIET=1 prints no lines; on a terminal, the last one alone.
set -u
counter=$1 total=$2 what=$3 file=$4
shift 4

place=
if [ "$total" -gt 1 ]; then
    echo $$ >>"$counter" # several steps at a time have different numbers
    number=$(sed -n "/^$$\$/=" "$counter" | tail -n 1)
    [ "$number" -gt "$total" ] || place=$(printf '[%*d/%d] ' "${#total}" "$number" "$total")
fi
line=$(printf '%s%-5s %s' "$place" "$what" "$file")
if [ -z "${QUIET:-}" ]; then
    echo "$line"
elif [ -t 1 ]; then
    printf '\r\033[K%.79s\r' "$line"
fi

code=0
"$@" || code=$?
if [ "$code" -ne 0 ]; then
    {
        printf 'failed (%s %s):' "$what" "$file"
        for word; do
            case $word in
            *[!A-Za-z0-9_./=,:+@%-]*) printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")" ;;
            *) printf ' %s' "$word" ;;
            esac
        done
        echo
    } >&2
fi
exit "$code"
