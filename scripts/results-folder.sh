#!/bin/sh
# results-folder.sh [DEVICE]: prints where results of a device go: results/ and its
# name in small letters, as in results/nvidia-h200; a CPU's has its cores, too, as
# the names of many do not tell them apart. DEVICE is as --device takes it; without
# it: a GPU, or where there is none the CPU.
set -eu
scanbench=${SCANBENCH:-./scanbench}

info=$("$scanbench" --device-info --device="${1:-gpu}" 2>/dev/null) ||
    info=$("$scanbench" --device-info --device="${1:-cpu}")
echo "$info" | awk '
    NR == 1 { device = $1 }
    $1 == "name" { $1 = ""; name = $0 }
    $1 == "cores" { cores = $2 }
    END {
        if (device == "cpu")
            name = name " " cores " cores"
        name = tolower(name)
        gsub(/\((r|tm)\)|processor|cpu/, "", name)
        gsub(/[^a-z0-9]+/, "-", name)
        gsub(/^-|-$/, "", name)
        print "results/" name
    }'
