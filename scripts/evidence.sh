#!/bin/bash
# evidence.sh FOLDER: measures the files of results/ that compare a GPU's algorithms, into
# FOLDER: scan.csv and so on, in the order of scripts/evidence.txt, most important first.
#
#   --device=D     default: gpu
#   --table=FILE   another table than scripts/evidence.txt
#   --readme       only print the table for FILES.md of the folder; scripts/provenance.py adds dates and commits
#   --help         print this help
#
# SCANBENCH names the program, ./scanbench by default. Files of the name *-newest-cub.csv
# need one that was built with `make CCCL=dir`, which SCANBENCH_NEWEST names.
#
# The table gives each file its flags and a time limit. {a,b} in flags stands for a run with
# each, one after the other. A file that is there already is skipped. One that could not be
# finished is kept as FILE.part; run this again, and it continues. Ctrl-C ends it: the row being
# measured is lost, those before it are kept. Only one of these may run per folder.
set -euo pipefail

folder=
device=gpu
table=$(dirname "$0")/evidence.txt
readme=
for argument; do
    case $argument in
    --device=?*) device=${argument#*=} ;;
    --table=?*) table=${argument#*=} ;;
    --readme) readme=1 ;;
    --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | grep -v '^set'
        exit 0
        ;;
    -* | '')
        echo "evidence.sh: $argument is not known; it must be --device=D, --table=FILE, --readme or --help" >&2
        exit 2
        ;;
    *) folder=$argument ;;
    esac
done
if [ -z "$folder" ] && [ -z "$readme" ]; then
    echo "evidence.sh: a folder for the files is missing" >&2
    exit 2
fi

# each_of FLAGS: a line for each choice of {a,b}.
each_of() {
    local choice choices
    if [[ $1 =~ ^(.*)\{(.*)\}(.*)$ ]]; then
        local before=${BASH_REMATCH[1]} after=${BASH_REMATCH[3]}
        IFS=, read -ra choices <<<"${BASH_REMATCH[2]}"
        for choice in "${choices[@]}"; do
            each_of "$before$choice$after"
        done
    else
        echo "$1"
    fi
}

# Ctrl-C, or a signal to this script alone, goes to the program that runs, and this script waits for its
# end: the next one that is started must not measure beside it.
interrupted=
program_id=
interrupt() {
    interrupted=yes
    [ -z "$program_id" ] || kill -INT "$program_id" 2>/dev/null || true
}
trap interrupt INT TERM HUP

# limited SECONDS COMMAND...: returns the command's exit code, 124 if it took longer. `timeout` puts
# the command into a process group of its own, which Ctrl-C does not reach.
limited() {
    local code=0
    timeout --signal=INT "$@" </dev/null &
    program_id=$!
    [ -z "$interrupted" ] || interrupt
    while true; do
        code=0
        wait "$program_id" || code=$?
        kill -0 "$program_id" 2>/dev/null || break # else a signal has ended `wait` alone
    done
    program_id=
    return "$code"
}

# measure PROGRAM FILE SECONDS FLAGS: leaves in $why the reason why the file is not finished.
measure() {
    local end=$((SECONDS + $3)) line flags code
    why=
    while read -r line; do
        read -ra flags <<<"$line"
        code=0
        limited $((end > SECONDS ? end - SECONDS : 1)) "$1" --device="$device" --quiet --resume --output="$2" \
            "${flags[@]}" || code=$?
        [ -z "$interrupted" ] || code=130
        case $code in
        0) ;;
        3) status=3 ;; # a wrong result has its row
        124) why="stopped after $3 s" ;;
        130) why=interrupted interrupted=yes ;;
        *) why="exit $code" ;;
        esac
        [ -z "$why" ] || break
    done < <(each_of "$4")
}

# finish FILE START: reports, and gives the file its name if nothing is missing.
finish() {
    local rows
    rows=$(($(wc -l 2>/dev/null <"$folder/$1.part" || echo 1) - 1))
    if [ -z "$why" ]; then
        mv "$folder/$1.part" "$folder/$1"
        echo "$1: $rows rows in $((SECONDS - $2)) s"
    else
        echo "$1: not finished, $why; $1.part has $rows rows"
        [ "$status" -ne 0 ] || status=1
    fi
}

status=0
if [ -n "$readme" ]; then
    echo '| file | what | date | commit | flags |'
    echo '|---|---|---|---|---|'
else
    mkdir -p "$folder"
    # The lock is that of the folder itself and also the program's: it lasts as long as any of them does.
    exec 9<"$folder"
    if ! flock --nonblock 9; then
        echo "evidence.sh: another one measures into $folder; wait for its end, or end it" >&2
        exit 1
    fi
fi
while IFS=' |' read -r file seconds flags; do
    program=${SCANBENCH:-./scanbench}
    [[ $file != *-newest-cub.csv ]] || program=${SCANBENCH_NEWEST-}
    if [ -n "$readme" ]; then
        echo "| \`$file\` |  |  |  | \`scripts/evidence.sh\`: \`$flags\` |"
    elif [ -e "$folder/$file" ]; then
        echo "$file: skipped, it is there already"
    elif [ -z "$program" ]; then
        echo "$file: skipped, SCANBENCH_NEWEST names no program"
    else
        start=$SECONDS
        measure "$program" "$folder/$file.part" "$seconds" "$flags"
        finish "$file" "$start"
        if [ -n "$interrupted" ]; then
            echo "evidence.sh: interrupted; the same command goes on from here" >&2
            exit 130
        fi
    fi
done < <(sed 1d "$table")
exit "$status"
