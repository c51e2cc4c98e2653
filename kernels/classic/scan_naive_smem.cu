/* scan_naive_smem: Hillis-Steele scan in shared memory, double-buffered.
 * Source:  GPU Gems 3, chapter 39, example 39-1.
 * Work:    O(n log tile). Depth: log2(block) steps per tile, log_tile(n) levels.
 * DRAM:    4n elements: tiles read and written, then once more for uniform add.
 * Shared:  sums[2][block]: a level reads one half and writes the other.
 * Relies:  on two buffers: one barrier per level is enough, because a level does
 *          not write what it reads. */
#include "../warp.cuh"
#include "divide_and_conquer.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned BLOCK> struct hillis_steele_tile {
    static constexpr unsigned PER_THREAD = 2;

    struct shared {
        T sums[2][BLOCK];
    };
    static constexpr size_t SHARED_BYTES = sizeof(shared);

    static __device__ __forceinline__ pack<T, 2> prefixes(pack<T, 2> x, bool inclusive, T *total)
    {
        shared *s = shared_memory<shared>();
        const unsigned t = threadIdx.x;
        T sum = x.at[0] + x.at[1];
        unsigned here = 0;
        s->sums[here][t] = sum;
        sync_threads<BLOCK>();
#pragma unroll
        for (unsigned stride = 1; stride < BLOCK; stride *= 2) {
            if (t >= stride)
                sum += s->sums[here][t - stride];
            here = 1 - here;
            s->sums[here][t] = sum;
            sync_threads<BLOCK>();
        }
        /* The scan of the pairs is inclusive; shifted by one it is exclusive. */
        *total = sum;
        const T before = t > 0 ? s->sums[here][t - 1] : T(0), first = before + x.at[0];
        return inclusive ? pack<T, 2>{first, T(first + x.at[1])} : pack<T, 2>{before, first};
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_naive_smem) = {
    .name = "naive-smem",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 128,
    .summary = "Hillis-Steele in shared memory, double buffer, divide and conquer",
    .source = "GPU Gems 3 ch. 39.2.1",
    .scratch_bytes =
        SCANBENCH_BACKEND::scan_by_tiles_scratch_bytes<SCANBENCH_BACKEND::hillis_steele_tile>,
    .run = SCANBENCH_BACKEND::scan_by_tiles<SCANBENCH_BACKEND::hillis_steele_tile>,
};
