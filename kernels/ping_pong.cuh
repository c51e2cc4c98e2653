/* ping_pong.cuh: the arrays between which the passes of a sort move keys, and values with them. */
#pragma once

#include "key_order.cuh"

namespace SCANBENCH_BACKEND
{

/* The type of the values where keys are sorted alone. */
struct no_value {
};

template <class Value> constexpr bool HAS_VALUES_OF = !std::is_same_v<Value, no_value>;

/* Calls `sort` with types for the keys, as unsigned integers of their size, and for the values. */
template <class Key, class Sort> auto with_values_of(const struct problem *problem, Sort sort)
{
    switch (problem->values) {
    case VALUES_U32:
        return sort.template operator()<Key, uint32_t>();
    case VALUES_U64:
        return sort.template operator()<Key, uint64_t>();
    default:
        return sort.template operator()<Key, no_value>();
    }
}

template <class Sort> auto with_types_of(const struct problem *problem, Sort sort)
{
    return with_key_width(problem->type,
                          [&]<class Key>() { return with_values_of<Key>(problem, sort); });
}

/* The same for keys of any width. Those of 8 and 16 bits have no values. */
template <class Sort> auto with_all_types_of(const struct problem *problem, Sort sort)
{
    switch (element_bytes(problem->type)) {
    case sizeof(uint8_t):
        return sort.template operator()<uint8_t, no_value>();
    case sizeof(uint16_t):
        return sort.template operator()<uint16_t, no_value>();
    default:
        return with_types_of(problem, sort);
    }
}

/* The same for pairs alone. */
template <class Sort> void with_pair_types_of(const struct problem *problem, Sort sort)
{
    with_types_of(problem, [&]<class Key, class Value>() {
        if constexpr (HAS_VALUES_OF<Value>)
            sort.template operator()<Key, Value>();
    });
}

/* The input, which is never written, the output, and an array in scratch. */
template <class T> struct three_arrays {
    const T *in;
    T *out, *other;
};

template <> struct three_arrays<no_value> {
};

/* What one pass reads and writes. */
template <class T> struct moved {
    const T *from;
    T *to;
};

template <> struct moved<no_value> {
};

/* Pass `position` of `passes`, from 0: the last one writes the output. Without any pass, the
 * input is copied to the output. */
struct route {
    unsigned position, passes;

    __host__ __device__ __forceinline__ bool is_first() const
    {
        return position == 0 || passes == 0;
    }
    __host__ __device__ __forceinline__ bool is_last() const
    {
        return position + 1 == passes || passes == 0;
    }
    template <class T> __host__ __device__ __forceinline__ const T *from(three_arrays<T> of) const
    {
        return is_first() ? of.in : (passes - position) % 2 == 0 ? of.out : of.other;
    }
    template <class T> __host__ __device__ __forceinline__ T *to(three_arrays<T> of) const
    {
        return (passes - position) % 2 == 1 || passes == 0 ? of.out : of.other;
    }
    template <class T>
    __host__ __device__ __forceinline__ moved<T> operator()(three_arrays<T> of) const
    {
        if constexpr (HAS_VALUES_OF<T>)
            return {from(of), to(of)};
        else
            return {};
    }
};

/* The values of a call, whose other array is at `other`. */
template <class Value> three_arrays<Value> values_of(const struct call *call, void *other)
{
    if constexpr (HAS_VALUES_OF<Value>)
        return {static_cast<const Value *>(call->input_values),
                static_cast<Value *>(call->output_values), static_cast<Value *>(other)};
    else
        return {};
}

template <class Key> three_arrays<Key> keys_of(const struct call *call, void *other)
{
    return {static_cast<const Key *>(call->input), static_cast<Key *>(call->output),
            static_cast<Key *>(other)};
}

} // namespace SCANBENCH_BACKEND
