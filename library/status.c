/* status: what each status means, in words. */
#include "handle.h"

#define TEXT_OF(value) #value
#define VALUE_TEXT(macro) TEXT_OF(macro)

const char *scanbench_status_text(scanbench_status status)
{
    static const char *const texts[] = {
        [SCANBENCH_OK] = "no error",
        [SCANBENCH_ERROR_NULL] = "a pointer is NULL that must not be",
        [SCANBENCH_ERROR_TYPE] =
            ("no such type, operator, kind, operation or size of values, or not a type of the "
             "operation"),
        [SCANBENCH_ERROR_SIZE] = "more elements than can be addressed",
        [SCANBENCH_ERROR_ALIGNMENT] = "a pointer is not aligned to its elements",
        [SCANBENCH_ERROR_OVERLAP] =
            ("an output, or the count of a compaction, overlaps another array, and is not its own "
             "input"),
        [SCANBENCH_ERROR_DEVICE] = "the handle's device is not the current one",
        [SCANBENCH_ERROR_STREAM] = "a handle of the CPU takes no stream",
        [SCANBENCH_ERROR_SCRATCH] =
            "more scratch memory is needed than was reserved before the capture",
        [SCANBENCH_ERROR_MEMORY] = "scratch memory cannot be allocated",
        [SCANBENCH_ERROR_UNSUPPORTED] = "no algorithm supports this on this device",
        [SCANBENCH_ERROR_NO_DEVICE] = "there is no such GPU",
        [SCANBENCH_ERROR_CUDA] = "the CUDA runtime reported an error",
        [SCANBENCH_ERROR_THREADS] =
            ("threads are more than " VALUE_TEXT(SCANBENCH_MAX_THREADS) ", SCANBENCH_MAX_THREADS"),
    };
    if (status == SCANBENCH_ERROR_NO_DEVICE && &gpu_side == NULL)
        return "there is no such GPU: the library was built without CUDA";
    return (unsigned)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}
