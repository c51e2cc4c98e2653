/* textbook.cu: the scans of the textbook, small enough for a slide: one block, one tile, one
 * element per thread or two, nothing in registers.
 *
 *     scanbench --trace=steps.html --algo=./textbook.cu --n=16
 *
 * Hillis and Steele 1986, with two arrays that take turns; Blelloch 1990, as in GPU Gems 3, chapter
 * 39. */
#include <scanbench_own.h>

enum { TILE = 16 };

__global__ void hillis_steele(const int *in, int *out, int n)
{
    __shared__ int even[TILE], odd[TILE];
    int *from = even, *to = odd;
    const int i = threadIdx.x;
    from[i] = i > 0 && i <= n ? in[i - 1] : 0;
    for (int distance = 1; distance < TILE; distance *= 2) {
        __syncthreads();
        if (i >= distance)
            to[i] = from[i - distance] + from[i];
        else
            to[i] = from[i];
        int *const full = to;
        to = from;
        from = full;
    }
    __syncthreads();
    if (i < n)
        out[i] = from[i];
}

__global__ void blelloch(const int *in, int *out, int n)
{
    __shared__ int tree[TILE];
    const int t = threadIdx.x, left = 2 * t, right = 2 * t + 1;
    tree[left] = left < n ? in[left] : 0;
    tree[right] = right < n ? in[right] : 0;
    for (int half = 1; half < TILE; half *= 2) {
        __syncthreads();
        if (t < TILE / 2 / half)
            tree[2 * half * (t + 1) - 1] += tree[2 * half * t + half - 1];
    }
    __syncthreads();
    if (t == 0)
        tree[TILE - 1] = 0;
    for (int half = TILE / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < TILE / 2 / half) {
            const int sum = tree[2 * half * t + half - 1];
            tree[2 * half * t + half - 1] = tree[2 * half * (t + 1) - 1];
            tree[2 * half * (t + 1) - 1] += sum;
        }
    }
    __syncthreads();
    if (left < n)
        out[left] = tree[left];
    if (right < n)
        out[right] = tree[right];
}

static void scan_naive(const int *in, int *out, int n)
{
    hillis_steele<<<1, TILE>>>(in, out, n);
}

static void scan_efficient(const int *in, int *out, int n)
{
    blelloch<<<1, TILE / 2>>>(in, out, n);
}

SCANBENCH_SCAN("textbook-naive", scan_naive, exclusive, at_least(1), at_most(TILE))
SCANBENCH_SCAN("textbook-efficient", scan_efficient, exclusive, at_least(1), at_most(TILE))
