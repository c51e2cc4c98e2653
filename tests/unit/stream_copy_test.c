/* stream_copy_test: every byte is copied and none outside them is written, from and to any
 * address, on every vector path. */
#include "../../bench/device/backend.h"
#include "../../bench/registry.h"
#include "../../cpu/stream_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 200003, MARGIN = 128, BEYOND = 0x77 };

static unsigned char from[MOST + 2 * MARGIN], to[MOST + 2 * MARGIN];

static enum simd_path best_simd(void)
{
    struct device_info info;
    struct device_limits limits;
    struct device *device;
    assert_null(cpu_backend.open(0, 1, &info, &limits, &device));
    cpu_backend.close(device);
    return limits.best_simd;
}

static void assert_copies(size_t bytes, size_t from_shift, size_t to_shift, enum simd_path path)
{
    memset(to, BEYOND, sizeof to);
    stream_copy(to + MARGIN + to_shift, from + from_shift, bytes, path);
    const unsigned char *copy = to + MARGIN + to_shift;
    if (memcmp(copy, from + from_shift, bytes) != 0)
        fail_msg("%s: %zu bytes from %zu to %zu are not the same", simd_path_name(path), bytes,
                 from_shift, to_shift);
    for (const unsigned char *beside = to; beside < to + sizeof to; beside++)
        if ((beside < copy || beside >= copy + bytes) && *beside != BEYOND)
            fail_msg("%s: %zu bytes from %zu to %zu: written beside them", simd_path_name(path),
                     bytes, from_shift, to_shift);
}

static void every_byte_is_copied(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     63,         64,    4095, 16383,
                                   16384, 16385, 16384 + 63, 65536, MOST};
    static const size_t shifts[] = {0, 4, 60, 63};
    const enum simd_path best = best_simd();
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + i / 256);
    for (int path = SIMD_PORTABLE; path <= (int)best; path++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t f = 0; f < sizeof shifts / sizeof *shifts; f++)
                for (size_t t = 0; t < sizeof shifts / sizeof *shifts; t++)
                    assert_copies(sizes[s], shifts[f], shifts[t], (enum simd_path)path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
