/* key_order.cuh: the order of every element type as an order of unsigned numbers.
 *
 * Keys are stored unchanged and mapped when read. -0 comes before 0, and NaN lies beyond
 * the infinity of its sign. */
#pragma once

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
    switch (type_class(type)) {
    case TYPE_FLOAT:
        return {SIGN, Key(~Key(0))};
    case TYPE_SIGNED:
        return {SIGN, SIGN};
    default:
        return {0, 0};
    }
}

/* The same three orders as types, where a kernel cannot spare the instructions. */
template <class Word> struct unsigned_order {
    using key = Word;
    __device__ __forceinline__ Word operator()(Word bits) const
    {
        return bits;
    }
    __device__ __forceinline__ Word inverse(Word rank) const
    {
        return rank;
    }
};

template <class Word> struct signed_order {
    using key = Word;
    static constexpr Word SIGN = Word(1) << (8 * sizeof(Word) - 1);
    __device__ __forceinline__ Word operator()(Word bits) const
    {
        return bits ^ SIGN;
    }
    __device__ __forceinline__ Word inverse(Word rank) const
    {
        return rank ^ SIGN;
    }
};

template <class Word> struct float_order {
    using key = Word;
    static constexpr unsigned TOP = 8 * sizeof(Word) - 1;
    static constexpr Word SIGN = Word(1) << TOP;
    /* All bits set where the top one is. */
    static __device__ __forceinline__ Word spread(Word bits)
    {
        return Word(std::make_signed_t<Word>(bits) >> TOP);
    }
    __device__ __forceinline__ Word operator()(Word bits) const
    {
        return bits ^ (spread(bits) | SIGN);
    }
    __device__ __forceinline__ Word inverse(Word rank) const
    {
        return rank ^ (~spread(rank) | SIGN);
    }
};

template <class Word, class Function> auto with_order_of(enum type_class order, Function f)
{
    switch (order) {
    case TYPE_SIGNED:
        return f(signed_order<Word>{});
    case TYPE_FLOAT:
        return f(float_order<Word>{});
    default:
        return f(unsigned_order<Word>{});
    }
}

/* Calls f with the unsigned integer that is as wide as the type. */
template <class Function> auto with_key_width(enum element_type type, Function f)
{
    return element_bytes(type) == sizeof(uint64_t) ? f.template operator()<uint64_t>()
                                                   : f.template operator()<uint32_t>();
}

/* Calls f with the order of the type. */
template <class Function> auto with_order(enum element_type type, Function f)
{
    return with_key_width(type,
                          [&]<class Word>() { return with_order_of<Word>(type_class(type), f); });
}

} // namespace SCANBENCH_BACKEND
