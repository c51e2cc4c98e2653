#!/bin/sh
# counts.sh [SCANBENCH]: on a GPU whose counters may be read, does --counts count what Nsight Compute
# counts, launch by launch, and what the emulator counts? And do times stay as they are? Prints each
# launch with a difference: those from Nsight Compute's fail, those from the emulator's are to be
# explained (docs/measuring.md). Takes about a minute. Without ncu, that comparison is left out.
set -eu
cd "$(dirname "$0")/../.."
SCANBENCH=${1:-./scanbench}
export SCANBENCH
algo='naive,naive-smem,efficient,efficient-smem*,brent-kung-smem,warp-shuffle,reduce-then-scan,efficient-stitch'
counts=global_load_requests,global_load_sectors,global_store_requests,global_store_sectors
counts=$counts,shared_requests,bank_conflicts
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# count DEVICE FLAG...: the counts of each launch, as CSV.
count() {
    device=$1
    shift
    "$SCANBENCH" --device="$device" --samples=1 --format=csv --counts --kernels --progress=never \
        --columns="algo,launch,kernel,grid,launch_block,$counts" "$@" | grep '^[^,]*,[0-9]'
}

# differences WHAT A B: the lines of A that are not in B, and how many are equal.
differences() {
    all=$(wc -l <"$2")
    grep -vxFf "$3" "$2" >"$folder/rest" || true
    rest=$(wc -l <"$folder/rest")
    echo "$1: $((all - rest)) of $all launches are equal"
    if [ "$rest" -gt 0 ]; then
        echo "  algo,launch,kernel,grid,block,$counts; below it the other's"
        while IFS= read -r line; do
            echo "  $line"
            grep -F "$(echo "$line" | cut -d, -f1-3)," "$3" | sed 's/^/    /'
        done <"$folder/rest"
    fi
    [ "$all" -gt 0 ] && [ "$rest" -eq 0 ]
}

for flags in '--type=i32 --n=2^16 --block=128' '--type=f64 --n=262147 --block=256'; do
    echo "$flags"
    # shellcheck disable=SC2086  # flags are words
    {
        count gpu --algo="$algo" $flags >"$folder/gpu" || true
        count emulator --algo="$algo" $flags >"$folder/emulator"
        if [ ! -s "$folder/gpu" ] || head -1 "$folder/gpu" | grep -q ',,,,,,*$'; then
            echo "nothing was counted on the GPU" >&2
            exit 1
        fi
        differences "GPU and emulator" "$folder/gpu" "$folder/emulator" || true
        if command -v ncu >/dev/null; then
            scripts/profile.sh counts --algo="$algo" $flags | sed 1d >"$folder/ncu"
            differences "GPU and Nsight Compute" "$folder/gpu" "$folder/ncu" || true
            # In kernels with shuffles the two differ by a few bank conflicts, the last column.
            for who in gpu ncu; do cut -d, -f1-10 "$folder/$who" >"$folder/$who-requests"; done
            differences "the same but for bank conflicts" "$folder/gpu-requests" \
                "$folder/ncu-requests" || failed=1
        fi
    }
done

# Other kinds of launches: cooperative, of one cluster, overlapping, many.
echo "--counts and the check, of all algorithms of ours"
for op in scan compact sort reduce; do
    "$SCANBENCH" --device=gpu --op=$op --algo=own --n=2^16 --samples=3 --counts --format=csv --progress=never \
        --columns="op,algo,launches,$counts,check,reason"
done | grep -v '^op,'

echo "times in us, with --counts and without it"
for more in --counts --counts ''; do
    # shellcheck disable=SC2086  # nothing, or one word
    "$SCANBENCH" --device=gpu --algo=lookback,efficient-smem,memcpy --n=2^16,2^22 --quiet --format=csv \
        --columns=algo,n,time_ms,wall_ms $more | sed 1d | awk -F, -v how="${more:---}" \
        '{ printf "  %-9s %-15s %8d  time %.2f  wall %.2f\n", how, $1, $2, 1000 * $3, 1000 * $4 }'
done
exit $failed
