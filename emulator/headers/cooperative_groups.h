/* cooperative_groups.h: thread blocks, tiles, coalesced threads and the grid, for CUDA sources in
 * the emulator. A tile's operations are those of its warp with the tile's lanes as the mask. */
#pragma once

#include "../plain_cuda.h"

namespace cooperative_groups
{

class thread_block
{
  public:
    using index_type = unsigned;

    static void sync(EMULATOR_PLACE)
    {
        __syncthreads(file, line);
    }
    static unsigned thread_rank()
    {
        return ::plain_thread_rank();
    }
    static unsigned num_threads()
    {
        return ::blockDim.x * ::blockDim.y * ::blockDim.z;
    }
    static unsigned size()
    {
        return num_threads();
    }
    static dim3 thread_index()
    {
        return ::plain_thread_index();
    }
    static dim3 group_index()
    {
        return ::plain_block_index();
    }
    static dim3 group_dim()
    {
        return ::blockDim;
    }
    static dim3 dim_threads()
    {
        return ::blockDim;
    }
};

static inline thread_block this_thread_block()
{
    return {};
}

class grid_group
{
  public:
    static bool is_valid()
    {
        return ::plain_is_cooperative();
    }
    static void sync(EMULATOR_PLACE)
    {
        ::plain_grid_sync(file, line);
    }
    static unsigned long long thread_rank()
    {
        return (unsigned long long)::plain_block_rank() * thread_block::num_threads() +
               ::plain_thread_rank();
    }
    static unsigned long long num_threads()
    {
        return num_blocks() * thread_block::num_threads();
    }
    static unsigned long long size()
    {
        return num_threads();
    }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)::gridDim.x * ::gridDim.y * ::gridDim.z;
    }
    static unsigned long long block_rank()
    {
        return ::plain_block_rank();
    }
    static dim3 block_index()
    {
        return ::plain_block_index();
    }
    static dim3 dim_blocks()
    {
        return ::gridDim;
    }
    static dim3 group_dim()
    {
        return ::gridDim;
    }
};

static inline grid_group this_grid()
{
    return {};
}

/* Threads of a warp: `size` lanes from lane `first` on. */
class lanes
{
  public:
    lanes(unsigned first, unsigned size)
        : first_(first), size_(size), mask_((size == 32 ? 0xFFFFFFFFu : (1u << size) - 1) << first)
    {
    }
    unsigned thread_rank() const
    {
        return ::plain_thread_rank() % 32 - first_;
    }
    unsigned size() const
    {
        return size_;
    }
    unsigned num_threads() const
    {
        return size_;
    }
    void sync(EMULATOR_PLACE) const
    {
        __syncwarp(mask_, file, line);
    }
    template <class T> T shfl(T value, int rank, EMULATOR_PLACE) const
    {
        return __shfl_sync(mask_, value, rank, (int)size_, file, line);
    }
    template <class T> T shfl_up(T value, unsigned distance, EMULATOR_PLACE) const
    {
        return __shfl_up_sync(mask_, value, distance, (int)size_, file, line);
    }
    template <class T> T shfl_down(T value, unsigned distance, EMULATOR_PLACE) const
    {
        return __shfl_down_sync(mask_, value, distance, (int)size_, file, line);
    }
    template <class T> T shfl_xor(T value, unsigned lanes, EMULATOR_PLACE) const
    {
        return __shfl_xor_sync(mask_, value, (int)lanes, (int)size_, file, line);
    }
    int any(int predicate, EMULATOR_PLACE) const
    {
        return __any_sync(mask_, predicate, file, line);
    }
    int all(int predicate, EMULATOR_PLACE) const
    {
        return __all_sync(mask_, predicate, file, line);
    }
    unsigned ballot(int predicate, EMULATOR_PLACE) const
    {
        return (__ballot_sync(mask_, predicate, file, line) & mask_) >> first_;
    }
    template <class T> unsigned match_any(T value, EMULATOR_PLACE) const
    {
        return __match_any_sync(mask_, value, file, line) >> first_;
    }
    unsigned meta_group_rank() const
    {
        return ::plain_thread_rank() / size_;
    }
    unsigned meta_group_size() const
    {
        return (thread_block::num_threads() + size_ - 1) / size_;
    }

  private:
    unsigned first_, size_, mask_;
};

template <unsigned Size, class Parent = void> class thread_block_tile : public lanes
{
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    thread_block_tile() : lanes(::plain_thread_rank() % 32 / Size * Size, Size)
    {
    }
};

/* Any of the groups above except the grid. */
class thread_group : public lanes
{
  public:
    using lanes::lanes;
    thread_group(const lanes &group) : lanes(group)
    {
    }
    thread_group(const thread_block &) : lanes(0, 1), is_block_(true)
    {
    }
    unsigned thread_rank() const
    {
        return is_block_ ? thread_block::thread_rank() : lanes::thread_rank();
    }
    unsigned num_threads() const
    {
        return is_block_ ? thread_block::num_threads() : lanes::num_threads();
    }
    unsigned size() const
    {
        return num_threads();
    }
    void sync(EMULATOR_PLACE) const
    {
        if (is_block_)
            thread_block::sync(file, line);
        else
            lanes::sync(file, line);
    }

  private:
    bool is_block_ = false;
};

/* Other threads may be at the same place, but need not be: a thread alone is what can be relied
 * on. */
class coalesced_group : public lanes
{
  public:
    coalesced_group() : lanes(::plain_thread_rank() % 32, 1)
    {
    }
};

static inline coalesced_group coalesced_threads()
{
    return {};
}

template <unsigned Size, class Group> thread_block_tile<Size, Group> tiled_partition(const Group &)
{
    return {};
}

template <class Group> thread_group tiled_partition(const Group &, unsigned size)
{
    return {::plain_thread_rank() % 32 / size * size, size};
}

template <class Group> void sync(const Group &group, EMULATOR_PLACE)
{
    group.sync(file, line);
}

template <class T> struct plus {
    T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <class T> struct less {
    T operator()(T a, T b) const
    {
        return b < a ? b : a;
    }
};
template <class T> struct greater {
    T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};

template <class Group, class T, class Operator>
T reduce(const Group &group, T value, Operator combine, EMULATOR_PLACE)
{
    for (unsigned distance = group.size() / 2; distance > 0; distance /= 2)
        value = combine(value, group.shfl_xor(value, distance, file, line));
    return value;
}

template <class Group, class T, class Operator = plus<T>>
T inclusive_scan(const Group &group, T value, Operator combine = {}, EMULATOR_PLACE)
{
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const T before = group.shfl_up(value, distance, file, line);
        if (group.thread_rank() >= distance)
            value = combine(before, value);
    }
    return value;
}

template <class Group, class T, class Operator = plus<T>>
T exclusive_scan(const Group &group, T value, Operator combine = {}, EMULATOR_PLACE)
{
    const T inclusive = inclusive_scan(group, value, combine, file, line);
    const T before = group.shfl_up(inclusive, 1, file, line);
    return group.thread_rank() == 0 ? T() : before;
}

template <class Group, class T>
void memcpy_async(const Group &group, T *to, const T *from, size_t bytes)
{
    for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size())
        to[i] = from[i];
}

template <class Group> void wait(const Group &group, EMULATOR_PLACE)
{
    group.sync(file, line);
}

} // namespace cooperative_groups
