/* clocks.cpp: clocks as trees whose leaves are blocks, so that two clocks share all but the paths
 * to the blocks that they know differently. */
#include "clocks.h"

#include <algorithm>
#include <deque>

inline namespace emulator_cuda
{

enum { LOG2_CHILDREN = 4, CHILDREN = 1 << LOG2_CHILDREN };

struct clock_node {
    const void *child[CHILDREN]; /* nodes, or at the last level block_clocks; NULL: nothing known */
};

static std::deque<clock_node> nodes;
static std::deque<block_clock> leaves;
static int levels; /* of nodes above the leaves */

void clear_clocks(uint32_t blocks)
{
    nodes.clear();
    leaves.clear();
    levels = 1;
    while ((uint64_t)1 << (levels * LOG2_CHILDREN) < blocks)
        levels++;
}

static uint32_t known_up_to(const struct block_clock *clock, uint16_t thread)
{
    const auto at =
        std::lower_bound(clock->up_to.begin(), clock->up_to.end(), std::pair{thread, 0u});
    return at != clock->up_to.end() && at->first == thread ? at->second : 0;
}

static bool block_knows(const struct block_clock *clock, uint16_t thread, uint32_t time)
{
    return time < clock->before || time <= known_up_to(clock, thread);
}

/* Does `a` know all that `b` does? */
static bool covers(const struct block_clock *a, const struct block_clock *b)
{
    if (a->before < b->before)
        return false;
    for (const auto &[thread, time] : b->up_to)
        if (!block_knows(a, thread, time))
            return false;
    return true;
}

static const void *join_blocks(const struct block_clock *a, const struct block_clock *b)
{
    if (covers(a, b))
        return a;
    if (covers(b, a))
        return b;
    struct block_clock both = {std::max(a->before, b->before), {}};
    auto x = a->up_to.begin(), y = b->up_to.begin();
    while (x != a->up_to.end() || y != b->up_to.end()) {
        const bool has_x = x != a->up_to.end(), has_y = y != b->up_to.end();
        std::pair<uint16_t, uint32_t> next;
        if (has_x && has_y && x->first == y->first)
            next = {x->first, std::max(x++->second, y++->second)};
        else
            next = has_x && (!has_y || x->first < y->first) ? *x++ : *y++;
        if (next.second >= both.before)
            both.up_to.push_back(next);
    }
    leaves.push_back(std::move(both));
    return &leaves.back();
}

static const void *join_below(const void *a, const void *b, int level)
{
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (level == 0)
        return join_blocks((const struct block_clock *)a, (const struct block_clock *)b);
    const auto *x = (const struct clock_node *)a, *y = (const struct clock_node *)b;
    struct clock_node both;
    bool all_x = true, all_y = true;
    for (int c = 0; c < CHILDREN; c++) {
        both.child[c] = join_below(x->child[c], y->child[c], level - 1);
        all_x = all_x && both.child[c] == x->child[c];
        all_y = all_y && both.child[c] == y->child[c];
    }
    if (all_x || all_y)
        return all_x ? a : b;
    nodes.push_back(both);
    return &nodes.back();
}

launch_clock join_clocks(launch_clock a, launch_clock b)
{
    return join_below(a, b, levels);
}

static int child_of(uint32_t block, int level)
{
    return (int)(block >> ((level - 1) * LOG2_CHILDREN)) & (CHILDREN - 1);
}

launch_clock add_to_clock(launch_clock clock, uint32_t block, struct block_clock more)
{
    leaves.push_back(std::move(more));
    const void *path = &leaves.back();
    for (int level = 1; level <= levels; level++) {
        struct clock_node node = {};
        node.child[child_of(block, level)] = path;
        nodes.push_back(node);
        path = &nodes.back();
    }
    return join_clocks(clock, path);
}

bool clock_knows(launch_clock clock, uint32_t block, uint16_t thread, uint32_t time)
{
    const void *below = clock;
    for (int level = levels; level > 0 && below; level--)
        below = ((const struct clock_node *)below)->child[child_of(block, level)];
    return below && block_knows((const struct block_clock *)below, thread, time);
}

} // namespace emulator_cuda
