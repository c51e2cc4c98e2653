/* key_order.cuh: the order of every element type as an order of unsigned numbers.
 *
 * Keys are stored unchanged and mapped when read. -0 comes before 0, and NaN lies beyond
 * the infinity of its sign. */
#ifndef SCANBENCH_KERNELS_KEY_ORDER_CUH
#define SCANBENCH_KERNELS_KEY_ORDER_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

/* An exclusive or with one of two masks, chosen by the sign. Negative floats are inverted,
 * because their bits grow away from zero. */
template <class Key> struct key_order {
    Key positive, negative;

    __host__ __device__ __forceinline__ Key operator()(Key bits) const
    {
        return bits ^ (bits >> (8 * sizeof(Key) - 1) ? negative : positive);
    }

    /* The key that has this rank. */
    __host__ __device__ __forceinline__ Key inverse(Key rank) const
    {
        const Key was_negative = rank ^ negative;
        return was_negative >> (8 * sizeof(Key) - 1) ? was_negative : Key(rank ^ positive);
    }
};

template <class Key> static key_order<Key> order_of(enum element_type type)
{
    constexpr Key SIGN = Key(1) << (8 * sizeof(Key) - 1);
    switch (type) {
    case TYPE_F32:
    case TYPE_F64:
        return {SIGN, Key(~Key(0))};
    case TYPE_I32:
    case TYPE_I64:
        return {SIGN, SIGN};
    default:
        return {0, 0};
    }
}

} // namespace SCANBENCH_BACKEND

#endif
