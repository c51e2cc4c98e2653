/* applications.cpp: counts how often the launches of a run apply their operator, and how long the
 * chains of applications are. The operands tell (kernels/counting.cuh). */
#include "accesses.h"
#include "ptx.h"

#include <algorithm>
#include <vector>

inline namespace emulator_cuda
{

static bool counting;       /* launches from here on are counted */
static bool operands_count; /* kernels have been asked for that tell */
static std::vector<application_counts> launches;

bool operands_must_count(void)
{
    operands_count = operands_count || counting;
    return counting;
}

void note_applications(unsigned count, uint64_t depth)
{
    if (!counting)
        return;
    struct application_counts *launch = &launches.back();
    launch->applications += count;
    launch->depth = std::max(launch->depth, depth);
}

/* As for counted accesses, the order of blocks and threads does not depend on the seed. */
static bool begin_launch(uint64_t *random_state)
{
    if (counting) {
        *random_state = launches.size();
        launches.push_back({});
    }
    return false; /* accesses are of no interest */
}

const struct access_observer application_observer = {.begin_launch = begin_launch};

} // namespace emulator_cuda

void emulator_start_counting_applications(void)
{
    launches.clear();
    operands_count = false;
    counting = true;
}

void emulator_stop_counting_applications(void)
{
    counting = false;
}

size_t emulator_applications_of_launches(const struct application_counts **each)
{
    *each = launches.data();
    return operands_count ? launches.size() : 0;
}
