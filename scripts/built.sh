#!/bin/sh
# built.sh PROGRAM START HOW: says what was built, and how long that took since START, in seconds
# of the clock.
set -u
seconds=$(($(date +%s) - $2))
if [ "$seconds" -lt 60 ]; then
    took="$seconds s"
else
    took="$((seconds / 60)) min $((seconds % 60)) s"
fi
[ -z "${QUIET:-}" ] || [ ! -t 1 ] || printf '\r\033[K'
case $1 in
*/*) echo "built $1 in $took, $3" ;;
*) echo "built ./$1 in $took, $3" ;;
esac
