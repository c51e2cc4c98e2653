#include "columns.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define TEXT(field, meaning)                                      \
    {                                                             \
#field, COLUMN_TEXT, offsetof(struct row, field), meaning \
    }
#define NUMBER(field, meaning)                                      \
    {                                                               \
#field, COLUMN_NUMBER, offsetof(struct row, field), meaning \
    }
#define COUNT(field, meaning)                                      \
    {                                                              \
#field, COLUMN_COUNT, offsetof(struct row, field), meaning \
    }

/* Axes first, measures after, the environment last. New columns go to the end. */
const struct column columns[] = {
    TEXT(op, "operation: scan, compact, sort"),
    TEXT(algo, "algorithm, as --algo takes it"),
    TEXT(kernel, "one launch of the algorithm; empty for the whole"),
    TEXT(type, "element type"),
    TEXT(kind, "scan: exclusive or inclusive"),
    COUNT(n, "elements of the input"),
    TEXT(pot, "yes if n is a power of two"),
    COUNT(block, "threads a block; empty if the algorithm chooses itself"),
    COUNT(threads, "CPU threads the algorithm may use; for a small array it may take fewer"),
    TEXT(device, "cpu, emulator, or gpu and its number"),
    TEXT(device_name, "the device's own name"),
    TEXT(cache,
         "caches before a sample: cold: flushed; dirty: full of lines to write back; hot: as left"),
    TEXT(input, "shape of the input data"),
    TEXT(max, "largest value of the input, as typed"),
    TEXT(keep, "compaction: fraction of elements kept, as typed"),
    TEXT(seed, "seed of the input data"),
    COUNT(samples, "timed runs"),
    NUMBER(time_ms, "median time of a run: device time, or wall time on the CPU"),
    NUMBER(time_min_ms, "shortest time"),
    NUMBER(time_max_ms, "longest time"),
    NUMBER(time_mean_ms, "mean time"),
    NUMBER(time_stddev_ms, "standard deviation of the times"),
    NUMBER(noise_pct, "half the 95 % confidence interval of the median, in percent of it"),
    NUMBER(wall_ms, "median host time from the call until the result is ready"),
    NUMBER(copies_ms, "--copies: median time of copy in, run and copy out"),
    NUMBER(h2d_ms, "--copies: median time of the copy to the device"),
    NUMBER(d2h_ms, "--copies: median time of the copy from the device"),
    NUMBER(first_call_ms, "host time of the very first call, loading included"),
    TEXT(queued, "yes if host latency was kept out of time_ms"),
    NUMBER(gelem_s, "10^9 input elements a second, by time_ms"),
    NUMBER(gb_s, "10^9 of the bytes a second, by time_ms"),
    NUMBER(memcpy_pct, "time of memcpy at the same n in the same run over time_ms"),
    NUMBER(peak_pct, "gb_s over the memory's theoretical bandwidth"),
    COUNT(scratch_bytes, "bytes of scratch beside input and output"),
    COUNT(launches, "kernel launches a run"),
    NUMBER(occupancy_pct, "theoretical occupancy of the launch, of a whole that of its longest"),
    TEXT(check, "passed, failed, skipped or error; times stand only beside passed"),
    TEXT(reason, "why not passed"),
    NUMBER(sm_clock_mhz, "multiprocessor clock after the last sample"),
    NUMBER(temperature_c, "GPU temperature after the last sample"),
    TEXT(throttled, "yes if the GPU was held below its clocks"),
    TEXT(version, "scanbench version"),
    TEXT(commit, "source revision, g and its hash"),
    TEXT(compiler, "host compiler"),
    TEXT(cuda, "CUDA runtime"),
    TEXT(driver, "GPU driver"),
    TEXT(host, "machine name"),
    TEXT(date, "when the row was measured, UTC"),
    TEXT(label, "--label"),
    TEXT(simd, "vector instructions of a CPU algorithm: avx512, avx2 or portable"),
    COUNT(launch, "--kernels: the launch's place in the run, from 1; empty for the whole"),
    COUNT(grid, "--kernels: blocks of the launch"),
    COUNT(launch_block, "--kernels: threads a block of the launch"),
    COUNT(static_shared_bytes, "--kernels: shared memory a block that the kernel declares"),
    COUNT(dynamic_shared_bytes, "--kernels: shared memory a block that the launch adds"),
    COUNT(registers, "--kernels: registers a thread"),
    NUMBER(share_pct, "--kernels: time_ms of the launch over time_ms of the whole"),
    TEXT(host_memory, "--copies: pageable or pinned, between which and the device is copied"),
    NUMBER(baseline_ms,
           "--baseline: time_ms of the same configuration there; of several runs the median"),
    NUMBER(baseline_ratio, "time_ms over baseline_ms"),
    TEXT(change, "slower or faster, if by more than noise and than past runs differ; else none"),
    NUMBER(time_q1_ms, "a quarter of the times is no longer than this"),
    NUMBER(time_q3_ms, "and three quarters no longer than this"),
    COUNT(throttled_samples, "timed runs dropped, because the GPU was held below its clocks"),
    NUMBER(energy_mj, "--energy: what the GPU takes for a run of many in a row, by its own "
                      "counter, whatever --cache"),
    TEXT(chose, "auto: the algorithm it ran, and its threads a block"),
    COUNT(bytes, "memory that must be read and written: by the operation, or by the launch"),
};
const size_t column_count = sizeof columns / sizeof columns[0];

static const void *field(const struct column *column, const struct row *row)
{
    return (const char *)row + column->offset;
}

bool column_empty(const struct column *column, const struct row *row)
{
    switch (column->kind) {
    case COLUMN_TEXT: {
        const char *text = *(const char *const *)field(column, row);
        return text == NULL || text[0] == '\0';
    }
    case COLUMN_NUMBER:
        return !isfinite(*(const double *)field(column, row));
    case COLUMN_COUNT:
        return *(const int64_t *)field(column, row) < 0;
    }
    return true;
}

/* ASCII only, no control characters, and nothing a spreadsheet would evaluate. */
static void safe_text(const char *from, char *text, size_t size)
{
    size_t length = 0;
    if (strchr("=+-@", from[0]) != NULL && size > 1)
        text[length++] = '\'';
    for (; *from != '\0' && length + 1 < size; from++)
        text[length++] = (unsigned char)*from >= 0x20 && (unsigned char)*from < 0x7F ? *from : '?';
    text[length] = '\0';
}

void column_text(const struct column *column, const struct row *row, char *text, size_t size)
{
    text[0] = '\0';
    if (column_empty(column, row))
        return;
    switch (column->kind) {
    case COLUMN_TEXT:
        safe_text(*(const char *const *)field(column, row), text, size);
        break;
    case COLUMN_NUMBER:
        snprintf(text, size, "%.6g", *(const double *)field(column, row));
        break;
    case COLUMN_COUNT:
        snprintf(text, size, "%lld", (long long)*(const int64_t *)field(column, row));
        break;
    }
}

struct row empty_row(void)
{
    struct row row;
    memset(&row, 0, sizeof row);
    for (size_t c = 0; c < column_count; c++) {
        void *at = (char *)&row + columns[c].offset;
        if (columns[c].kind == COLUMN_NUMBER)
            *(double *)at = NAN;
        else if (columns[c].kind == COLUMN_COUNT)
            *(int64_t *)at = -1;
    }
    return row;
}

struct row row_without_measures(const struct row *row)
{
    struct row copy = *row;
    for (size_t c = 0; c < column_count; c++) {
        void *at = (char *)&copy + columns[c].offset;
        if (columns[c].kind == COLUMN_NUMBER)
            *(double *)at = NAN;
    }
    copy.samples = copy.scratch_bytes = copy.launches = copy.throttled_samples = copy.bytes = -1;
    return copy;
}

void print_columns(FILE *out)
{
    for (size_t c = 0; c < column_count; c++)
        fprintf(out, "%-16s %s\n", columns[c].name, columns[c].meaning);
}
