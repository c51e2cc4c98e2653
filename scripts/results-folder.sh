#!/bin/sh
# results-folder.sh [DEVICE]: prints the folder for new results of a device, which git ignores:
# results/local/ and its name in lower case, as in results/local/nvidia-h200. A CPU's folder also has
# its number of cores, since many CPU names are ambiguous. DEVICE is a value of --device; default: a
# GPU, or without one the CPU.
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
        print "results/local/" name
    }'
