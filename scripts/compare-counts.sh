#!/bin/sh
# compare-counts.sh [ALGO]: compares what the emulator's --counts counts with what Nsight Compute
# counts on the GPU, launch by launch, as CSV: a column of each count, and the same column with
# _profiled. ALGO is a list of scans, by default the ladder; with i32 and f64, three sizes, two block
# sizes. A line on stderr says how many launches have equal counts. Needs a GPU whose counters may
# be read.
set -eu
cd "$(dirname "$0")/.."
scanbench=${SCANBENCH:-./scanbench}
algo=${1:-naive*,efficient,efficient-smem*,brent-kung-smem,warp-shuffle,reduce-then-scan,efficient-stitch}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

counts=global_load_requests,global_load_sectors,global_store_requests,global_store_sectors
counts=$counts,shared_requests,bank_conflicts

# Both files have the columns algo, launch, kernel, grid, block, and then the counts.
for type in i32 f64; do
    for n in 5000 2^16 262147; do
        for block in 128 256; do
            "$scanbench" --device=emulator --samples=1 --quiet --format=csv --counts --kernels \
                --columns="algo,launch,kernel,grid,launch_block,$counts" \
                --algo="$algo" --type=$type --n=$n --block=$block |
                grep '^[^,]*,[0-9]' >"$folder/emulated"
            scripts/profile.sh counts --algo="$algo" --type=$type --n=$n --block=$block |
                sed 1d >"$folder/profiled"
            paste -d , "$folder/emulated" "$folder/profiled" | sed "s/^/$type,$n,$block,/"
        done
    done
done | awk -F , -v OFS=, -v counts="$counts" '
BEGIN {
    count = split(counts, name, ",")
    printf "type,n,block,algo,launch,kernel,grid,launch_block"
    for (i = 1; i <= count; i++) printf ",%s,%s_profiled", name[i], name[i]
    print ""
}
{
    emulated = 3; profiled = emulated + 5 + count; differs = 0
    for (i = 1; i <= 5; i++) differs += $(emulated + i) != $(profiled + i)
    if (differs) { others++; next }
    printf "%s", $1
    for (i = 2; i <= 8; i++) printf ",%s", $i
    for (i = 1; i <= count; i++) {
        here = $(emulated + 5 + i); there = $(profiled + 5 + i)
        printf ",%s,%s", here, there
        differs += here != there
    }
    print ""
    equal += !differs
}
END {
    if (!NR) exit 1
    print "compare-counts.sh: " equal " of " NR - others " launches have equal counts; " \
        others + 0 " more have another grid on this GPU" >"/dev/stderr"
}'
