/* highway: compaction with the Highway library's compress, on one thread.
 * Source:  Google, Highway. It compiles this file once for each vector width. */
#include "library.hpp"

#ifdef SCANBENCH_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace HWY_NAMESPACE
{

static void compact(const struct call *call)
{
    with_sums<OP_COMPACT>(call, [&]<class T>(const T *in, T *out, uint64_t n) HWY_ATTR {
        if constexpr (std::is_arithmetic_v<T>) {
            const hwy::HWY_NAMESPACE::ScalableTag<T> d;
            const size_t lanes = Lanes(d);
            uint64_t kept = 0, i = 0;
            for (; n - i >= lanes; i += lanes) {
                const auto x = LoadU(d, in + i);
                kept += CompressBlendedStore(x, Not(Eq(x, Zero(d))), d, out + kept);
            }
            for (; i < n; i++)
                if (in[i] != 0)
                    out[kept++] = in[i];
            *call->count = kept;
        }
    });
}

} // namespace HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
HWY_EXPORT(compact);

LIBRARY_VERSION("Highway %d.%d.%d", HWY_MAJOR, HWY_MINOR, HWY_PATCH)

static const char *supports(const struct problem *problem)
{
    return TYPES_OF_WIDE_SUMS >> problem->type & 1 ? "it is called for whole numbers, f32 and f64"
                                                   : nullptr;
}

static void compact(const struct call *call)
{
    HWY_DYNAMIC_DISPATCH(compact)(call);
}
#endif
#else
#define HWY_ONCE 1
LIBRARY_MISSING("libhwy-dev")
#endif

#if HWY_ONCE
extern "C" const struct algorithm cpu_compact_highway =
    LIBRARY("highway", OP_COMPACT, 0, "Highway: vectors packed by compress, on one thread",
            "Google Highway", supports, compact);
#endif
