#!/usr/bin/env bats
# ptx: the compiled form of the accesses on which speed or correctness depends.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

setup_file() {
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || return 0
    export nvcc
    local kernel pid pids=() single_pass
    # Each takes 10 to 20 s to compile.
    single_pass=(scan_lookahead compact_lookahead ${LONG:+scan_lookback scan_one_wave})
    export single_pass_kernels="${single_pass[*]}"
    for kernel in "${single_pass[@]}" ${LONG:+scan_cluster}; do
        ptx 90 "$kernel" 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
}

# ptx ARCHITECTURE KERNEL [FLAG...]
ptx() {
    local flags=("${@:3}")
    "$nvcc" -Ibuild/generated -std=c++20 -gencode="arch=compute_$1,code=compute_$1" -O3 -DSCANBENCH_BACKEND=gpu \
        "${flags[@]}" -ptx -o "$BATS_FILE_TMPDIR/$2-$1.ptx" kernels/*/"$2.cu"
}

# accesses KERNEL PATTERN: prints the kernels of a file, each with its number of matching
# instructions.
accesses() {
    awk -v pattern="$2" '
        function end() { if (entry != "") print entry, seen }
        /\.entry / { end(); entry = $0; sub(/.*\.entry /, "", entry); sub(/\(.*/, "", entry); seen = 0 }
        $0 ~ pattern { seen++ }
        END { end() }' "$BATS_FILE_TMPDIR/$1-90.ptx"
}

# totals KERNEL PATTERN: the same, without the kernels whose blocks need no totals (short_rows.cuh).
totals() {
    accesses "$@" | grep -v short_rows
}

@test "a tile's status: words of 8 bytes, relaxed, whole, at the scope of the GPU" {
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    local kernel access
    for kernel in $single_pass_kernels; do
        # Each kernel publishes and reads statuses, and blocks share nothing else except the
        # tickets of look-back.
        totals "$kernel" 'st\.relaxed\.gpu\.global\.(v2\.)?u64' | awk '$2 < 1 { print "publishes nothing: " $1; bad = 1 } END { exit bad || NR < 3 }'
        totals "$kernel" 'ld\.relaxed\.gpu\.global\.(v2\.)?u64' | awk '$2 < 1 { print "looks at nothing: " $1; bad = 1 } END { exit bad }'
        accesses "$kernel" '(st|ld)\.(volatile|relaxed|acquire|release)' >"$BATS_TEST_TMPDIR/all"
        awk '/short_rows/ && $2 > 0 { print "needs no totals: " $1; bad = 1 } END { exit bad }' "$BATS_TEST_TMPDIR/all"
        accesses "$kernel" '(st|ld)\.relaxed\.gpu\.global\.(v2\.)?u64' | diff - "$BATS_TEST_TMPDIR/all"
    done
    # Both words of a sum of 8 bytes travel together.
    for kernel in ${single_pass_kernels/compact_lookahead/}; do
        for access in st ld; do
            totals "$kernel" "$access"'\.relaxed\.gpu\.global\.v2\.u64' | awk '
                /scan_(slice|of)I(NS_7operandI)?[lmd]|recurrence_|segment/ != ($2 > 0) { print "words: " $0; bad = 1 }
                /scan_(slice|of)I(NS_7operandI)?[lmd]|recurrence_|segment/ { seen++ }
                END { exit bad || seen < 2 }'
        done
    done
    # No other file has such instructions.
    [ "$(grep -lE 'relaxed|acquire\.|release\.gpu' -r kernels)" = kernels/platform.cuh ]
}

@test "a tile's status: no fences, atomics for tickets alone" {
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    local kernel
    for kernel in $single_pass_kernels; do
        accesses "$kernel" '(membar|fence\.(sc|acq_rel))' | awk '$2 > 0 { print "a fence: " $1; bad = 1 } END { exit bad }'
        accesses "$kernel" '(atom|red)\.(global|relaxed|acq)' | awk -v tickets="$([ "$kernel" = scan_lookback ] && echo 1)" '
            $2 != tickets + 0 { print "atomics: " $0; bad = 1 } END { exit bad }'
    done
}

@test "lanes that have waited for totals come together before they add them up" {
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    local kernel
    for kernel in $single_pass_kernels; do
        [ "$kernel" != scan_lookback ] || continue # one warp of a block waits
        # The last read of a status that a kernel has, what follows it first, and no other read.
        awk '
            function end() { if (after == "apart") { print after ": " entry; bad = 1 } together += after == "together" }
            /\.entry / { end(); entry = $0; after = "" }
            /ld\.relaxed\.gpu\.global/ { after = "nothing" }
            after == "nothing" && /bar\.warp\.sync/ { after = "together" }
            after == "nothing" && /(shfl|redux|vote)\.sync/ { after = "apart" }
            END { end(); exit bad || together < 3 }' "$BATS_FILE_TMPDIR/$kernel-90.ptx"
    done
}

@test "totals of a cluster: told once its blocks run, seen by whoever waits" {
    long_test
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    local instruction
    for instruction in 'barrier\.cluster\.arrive\.release' 'barrier\.cluster\.wait\.acquire' \
        'st\.async\.weak\.shared::cluster\.mbarrier' 'mbarrier\.try_wait\.parity\.acquire\.cluster'; do
        accesses scan_cluster "$instruction" | awk -v what="$instruction" '
            $2 < 1 { print "no " what ": " $1; bad = 1 } END { exit bad || NR < 4 }'
    done
}

@test "results leave 16 bytes a store, a row each" {
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    # The rows of a slice are in the name: scan_slice<T, 3> is ...scan_sliceI[jmfdth]Lj3...
    accesses scan_lookahead 'st\.global(\.L2::cache_hint)?\.v4\.u32' | awk '
        match($1, /scan_sliceI[jmfdth]Lj[0-9]+/) {
            rows = substr($1, RSTART, RLENGTH)
            sub(/.*Lj/, "", rows)
            if ($2 != rows) { print "stores: " $0; bad = 1 }
            seen++
        }
        END { exit bad || seen < 8 }'
    # Evict-first stores: where the name says so (scan_slice<T, 3, true>), which it does for tiles
    # of each number of rows that a type has, but not for large arrays, which have tiles of 3.
    accesses scan_lookahead 'st\.global\.L2::cache_hint\.v4\.u32' | awk '
        match($1, /scan_sliceI[jmfdth]Lj3ELb0/) { if ($2 != 0) { print "let go: " $0; bad = 1 } seen++ }
        match($1, /scan_sliceI([jfth]Lj3|[jft]Lj5|[md]Lj4)ELb1/) { if ($2 == 0) { print "kept: " $0; bad = 1 } seen++ }
        END { exit bad || seen != 15 }'
    [ -n "${LONG-}" ] || return 0
    accesses scan_one_wave 'st\.global\.v4\.u32' | awk '
        $1 ~ /scan_ofI[jmfdth]E/ && match($1, /Lj[1-8]ELb0E/) {
            if ($2 != substr($1, RSTART + 2, 1)) { print "stores: " $0; bad = 1 }
            seen++
        }
        END { exit bad || seen != 42 }'
}

@test "tiles come in bulk, and the L2 is asked to keep them" {
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    accesses scan_lookahead 'cp\.async\.bulk\.shared' >"$BATS_TEST_TMPDIR/all"
    accesses scan_lookahead 'cp\.async\.bulk\..*L2::cache_hint' | diff - "$BATS_TEST_TMPDIR/all"
    awk '$2 < 1 { print; bad = 1 } END { exit bad || NR < 6 }' "$BATS_TEST_TMPDIR/all"
}

@test "older architectures: bulk copies are not asked for, and all else compiles" {
    long_test
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    local kernel architecture
    architecture=$("$nvcc" --list-gpu-arch | sed 's/compute_//' | sort -n | awk '$1 >= 70' | head -n 1)
    [ "$architecture" -lt 90 ]
    for kernel in scan_one_wave compact_one_wave scan_cluster scan_lookahead scan_lookback; do
        # One word, or none.
        # shellcheck disable=SC2046
        ptx "$architecture" "$kernel" $(sed -n 's/^QUICK_NVCC := //p' build/toolchain.mk)
        [ "$(grep -c 'cp\.async\.bulk' "$BATS_FILE_TMPDIR/$kernel-$architecture.ptx")" -eq 0 ]
    done
}

@test "inline assembly: what no compiler reads but ptxas" {
    long_test
    [ -n "${nvcc-}" ] || skip "no nvcc here"
    local kernel
    cat >"$BATS_FILE_TMPDIR/sort.cu" <<'END'
#include "kernels/sort/radix_rank.cuh"
using namespace SCANBENCH_BACKEND;
template <class Key> __global__ void assembly(uint64_t address, Key key)
{
    wait_for_launch_before();
    prefetch_to_l2(reinterpret_cast<const void *>(address));
    *reinterpret_cast<Key *>(address) = key + peers_of<4>((unsigned)key);
    let_next_launch_begin();
}
template __global__ void assembly(uint64_t, uint32_t);
template __global__ void assembly(uint64_t, uint64_t);
END
    "$nvcc" -I. -Ibuild/generated -std=c++20 -arch=compute_90 -DSCANBENCH_BACKEND=gpu -ptx \
        -o "$BATS_FILE_TMPDIR/sort-90.ptx" "$BATS_FILE_TMPDIR/sort.cu"
    ptx 90 engine_peer
    for kernel in sort scan_lookback scan_one_wave scan_cluster scan_lookahead compact_lookahead engine_peer; do
        "$(dirname "$nvcc")/ptxas" -O0 -arch=sm_90 -o /dev/null "$BATS_FILE_TMPDIR/$kernel-90.ptx"
    done
    # No other file has any.
    run grep -rlE '\<asm *(volatile)? *\(' kernels
    [ "$(basename -a "${lines[@]}" | sort | tr '\n' ' ')" = \
        "platform.cuh radix_rank.cuh " ]
}
