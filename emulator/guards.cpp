/* guards.cpp: device memory between zones that nothing may write, and that are looked at after each
 * launch. */
#include "sanitizer.h"
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

inline namespace emulator_cuda
{

enum {
    ZONE_BYTES = 256, /* also the alignment of memory */
    ZONE_BYTE = 0xA6,
};

/* The zones before and after what an allocation holds. */
static char *zone_before(void *memory)
{
    return (char *)memory - ZONE_BYTES;
}

static char *zone_after(void *memory, size_t bytes)
{
    return (char *)memory + bytes;
}

static void write_zone(char *zone)
{
    unpoison_memory(zone, ZONE_BYTES);
    memset(zone, ZONE_BYTE, ZONE_BYTES);
    poison_memory(zone, ZONE_BYTES);
}

void *allocate_guarded(size_t bytes)
{
    void *base;
    if (bytes > SIZE_MAX - 2 * ZONE_BYTES ||
        posix_memalign(&base, ZONE_BYTES, bytes + 2 * ZONE_BYTES))
        return NULL;
    char *memory = (char *)base + ZONE_BYTES;
    memset(memory, EMULATOR_MEMORY_POISON, bytes);
    write_zone(zone_before(memory));
    write_zone(zone_after(memory, bytes));
    return memory;
}

void free_guarded(void *memory)
{
    if (memory)
        ::free(zone_before(memory));
}

const char *first_change(const char *zone, int bytes, unsigned char byte)
{
    for (int i = 0; i < bytes; i++)
        if ((unsigned char)zone[i] != byte)
            return zone + i;
    return NULL;
}

/* Each damage is told of once. */
bool memory_guards_hold(const char *kernel)
{
    bool hold = true;
    for (const auto &[complement, extent] : current_device()->memory) {
        char *memory = (char *)~complement;
        for (char *zone : {zone_before(memory), zone_after(memory, extent.allocated)}) {
            const char *change = EMULATOR_ASAN ? NULL : first_change(zone, ZONE_BYTES, ZONE_BYTE);
            if (change == NULL)
                continue;
            if (hold)
                describe_damage(kernel, change, &extent);
            write_zone(zone);
            hold = false;
        }
    }
    return hold;
}

} // namespace emulator_cuda

size_t emulator_allocations(void)
{
    return emulator_cuda::current_device()->memory.size();
}
