/* trace_json.cpp: writes a trace as JSON, in terms of arrays and their cells. */
#include "source_lines.h"
#include "trace.h"

#include <algorithm>
#include <inttypes.h>
#include <math.h>
#include <string.h>

inline namespace emulator_cuda
{

enum {
    MOST_TRACE_BYTES = 2000000, /* of JSON; the launches after that are left out */
    GAP_BYTES = 32,             /* memory that is further apart is another array */
    ALIGNMENT = 128,            /* a multiple of what banks and sectors depend on */
    TAGGED_BYTES = 8,           /* of a value of 4 bytes with a tag above it */
};

/* A part of a region that is drawn as one array. */
struct traced_array {
    size_t region, start; /* in bytes */
    size_t end;
    size_t cell_bytes;
    std::string type;
};

/* --- Which arrays -------------------------------------------------------------- */

/* From the first to the last byte of a request, which is to one array. */
struct touched {
    size_t start, end;
    size_t bytes; /* per lane */
};

template <class F> static void for_each_request(const struct trace *trace, F function)
{
    for (const traced_launch &launch : trace->launches)
        for (const auto &[number, warps] : launch.steps)
            for (const auto &[warp, step] : warps)
                for (const traced_request &request : step.requests)
                    function(request);
}

static std::vector<std::vector<touched>> touched_by_region(const struct trace *trace)
{
    std::vector<std::vector<touched>> all(trace->regions.size());
    for_each_request(trace, [&](const traced_request &request) {
        touched span = {SIZE_MAX, 0, request.bytes};
        for (uint32_t rest = request.lanes; rest; rest &= rest - 1) {
            const size_t start = request.offset[__builtin_ctz(rest)];
            span.start = std::min(span.start, start);
            span.end = std::max(span.end, start + request.bytes);
        }
        all[request.region].push_back(span);
    });
    for (std::vector<touched> &region : all)
        std::sort(region.begin(), region.end(),
                  [](const touched &a, const touched &b) { return a.start < b.start; });
    return all;
}

static size_t bytes_of_type(const std::string &type)
{
    return (size_t)atoi(type.c_str() + 1) / 8;
}

/* Words with the elements' size are taken for elements, and words of twice that for an element with
 * a tag. */
static std::string type_of_cells(const struct trace *trace, size_t cell_bytes)
{
    if (cell_bytes == bytes_of_type(trace->type))
        return trace->type;
    if (cell_bytes == TAGGED_BYTES && bytes_of_type(trace->type) == TAGGED_BYTES / 2)
        return "tagged";
    char type[16];
    snprintf(type, sizeof type, "u%u", (unsigned)(8 * cell_bytes));
    return type;
}

/* Arrays of elements begin where the region begins. Other memory falls into parts where nothing was
 * touched. */
static void add_arrays(const struct trace *trace, size_t r, const std::vector<touched> &all,
                       std::vector<traced_array> *arrays)
{
    const traced_region &region = trace->regions[r];
    const bool whole = !region.type.empty() || region.space == TRACE_REGISTERS;
    const size_t first = arrays->size();
    for (const touched &access : all) {
        if (arrays->size() == first || (!whole && access.start > arrays->back().end + GAP_BYTES))
            arrays->push_back({r, whole ? 0 : access.start, 0, access.bytes, region.type});
        struct traced_array *array = &arrays->back();
        array->end = std::max(array->end, access.end);
        array->cell_bytes = std::min(array->cell_bytes, access.bytes);
    }
    for (size_t a = first; a < arrays->size(); a++) {
        struct traced_array *array = &(*arrays)[a];
        if (!region.type.empty())
            array->cell_bytes = bytes_of_type(region.type);
        else if (array->cell_bytes > TAGGED_BYTES)
            array->cell_bytes = bytes_of_type(trace->type);
        if (region.type.empty())
            array->type = type_of_cells(trace, array->cell_bytes);
    }
}

static std::vector<traced_array> arrays_of(const struct trace *trace)
{
    std::vector<traced_array> arrays;
    const std::vector<std::vector<touched>> all = touched_by_region(trace);
    for (size_t r = 0; r < trace->regions.size(); r++)
        add_arrays(trace, r, all[r], &arrays);
    return arrays;
}

static size_t array_at(const std::vector<traced_array> &arrays, size_t region, size_t offset)
{
    size_t a = 0;
    while (arrays[a].region != region || offset < arrays[a].start || offset >= arrays[a].end)
        a++;
    return a;
}

/* --- Values -------------------------------------------------------------------- */

/* What JavaScript cannot hold exactly is a text. */
static void write_integer(uint64_t magnitude, bool negative, FILE *out)
{
    const char *quote = magnitude >> 53 ? "\"" : "";
    fprintf(out, "%s%s%" PRIu64 "%s", quote, negative ? "-" : "", magnitude, quote);
}

/* Numbers below the normal ones are integers that lie among floats, such as a tile's. */
static void write_float(double value, int digits, bool is_normal, uint64_t bits, FILE *out)
{
    if (isnan(value) || isinf(value))
        fprintf(out, "\"%s\"", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    else if (!is_normal)
        write_integer(bits, false, out);
    else
        fprintf(out, "%.*g", digits, value);
}

static void write_value(const unsigned char *bytes, size_t count, const std::string &type,
                        FILE *out)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, std::min(count, sizeof bits));
    if (type == "tagged") {
        fputc('"', out);
        fprintf(out, "%" PRIu32 " #%" PRIu32 "\"", (uint32_t)bits, (uint32_t)(bits >> 32));
    } else if (type == "f32") {
        float value;
        memcpy(&value, bytes, sizeof value);
        write_float(value, 7, isnormal(value) || value == 0, bits, out);
    } else if (type == "f64") {
        double value;
        memcpy(&value, bytes, sizeof value);
        write_float(value, 9, isnormal(value) || value == 0, bits, out);
    } else if (type[0] == 'i') {
        const int unused = 64 - 8 * (int)count;
        const int64_t value = (int64_t)(bits << unused) >> unused;
        write_integer(value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0, out);
    } else {
        write_integer(bits, false, out);
    }
}

/* --- Requests -------------------------------------------------------------------- */

/* What requests are written in terms of. */
struct terms {
    std::vector<traced_array> arrays;
    std::unordered_map<const void *, std::string> lines; /* of the source, by caller */
};

static std::unordered_map<const void *, std::string> lines_of(const struct trace *trace)
{
    std::vector<const void *> callers;
    for_each_request(trace,
                     [&](const traced_request &request) { callers.push_back(request.caller); });
    return source_lines(callers);
}

static void write_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    fputc('"', out);
}

static void write_values(const char *name, const traced_request &request,
                         const std::vector<unsigned char> &values, const traced_array &array,
                         FILE *out)
{
    const char *comma = "";
    fprintf(out, ",\"%s\":[", name);
    for (uint32_t rest = request.lanes; rest; rest &= rest - 1) {
        const unsigned char *lane = &values[(size_t)__builtin_ctz(rest) * request.bytes];
        for (size_t b = 0; b < request.bytes; b += array.cell_bytes, comma = ",") {
            fputs(comma, out);
            write_value(lane + b, array.cell_bytes, array.type, out);
        }
    }
    fputc(']', out);
}

/* Atomics have these, in the order of lanes; others of one request seldom touch the same cell. */
static void write_order(const traced_request &request, FILE *out)
{
    uint64_t latest = 0;
    const char *comma = "";
    for (uint32_t rest = request.lanes; rest; rest &= rest - 1)
        latest = std::max(latest, request.when[__builtin_ctz(rest)]);
    fprintf(out, ",\"time\":%" PRIu64, latest);
    if (request.kind != TRACE_ATOMIC)
        return;
    fputs(",\"times\":[", out);
    for (uint32_t rest = request.lanes; rest; rest &= rest - 1, comma = ",")
        fprintf(out, "%s%" PRIu64, comma, request.when[__builtin_ctz(rest)]);
    fputc(']', out);
}

static void write_request(const struct terms &terms, const warp_number &warp,
                          const traced_request &request, FILE *out)
{
    static const char *const kinds[] = {
        [TRACE_LOAD] = "load",           [TRACE_STORE] = "store", [TRACE_ATOMIC] = "atomic",
        [TRACE_BULK_LOAD] = "bulk load", [TRACE_GIVE] = "give",   [TRACE_SHUFFLE] = "shuffle",
        [TRACE_REDUCE] = "reduce"};
    const size_t first = request.offset[__builtin_ctz(request.lanes)];
    const size_t a = array_at(terms.arrays, request.region, first);
    const traced_array &array = terms.arrays[a];
    const auto line = terms.lines.find(request.caller);
    const char *comma = "";
    fprintf(out,
            "{\"kind\":\"%s\",\"block\":%u,\"warp\":%u,\"lanes\":%u,\"array\":%zu,\"cells\":%zu,"
            "\"index\":[",
            kinds[request.kind], warp.block, warp.warp, request.lanes, a,
            std::max<size_t>(1, request.bytes / array.cell_bytes));
    for (uint32_t rest = request.lanes; rest; rest &= rest - 1, comma = ",")
        fprintf(out, "%s%zu", comma,
                (request.offset[__builtin_ctz(rest)] - array.start) / array.cell_bytes);
    fputc(']', out);
    write_values("value", request, request.value, array, out);
    if (!request.before.empty())
        write_values("before", request, request.before, array, out);
    write_order(request, out);
    if (line != terms.lines.end()) {
        fputs(",\"line\":", out);
        write_text(line->second.c_str(), out);
    }
    fputc('}', out);
}

/* --- The whole ------------------------------------------------------------------- */

static void write_arrays(const struct trace *trace, const std::vector<traced_array> &arrays,
                         FILE *out)
{
    static const char *const spaces[] = {
        [TRACE_GLOBAL] = "global", [TRACE_SHARED] = "shared", [TRACE_REGISTERS] = "registers"};
    fputs("\"arrays\":[", out);
    for (size_t a = 0; a < arrays.size(); a++) {
        const traced_region &region = trace->regions[arrays[a].region];
        fputs(a > 0 ? "," : "", out);
        fputs("{\"name\":", out);
        write_text(region.name.c_str(), out);
        fprintf(out,
                ",\"space\":\"%s\",\"from\":%zu,\"at\":%zu,\"type\":\"%s\",\"bytes\":%zu,\"cells\":"
                "%zu}",
                spaces[region.space], arrays[a].start, (region.base + arrays[a].start) % ALIGNMENT,
                arrays[a].type.c_str(), arrays[a].cell_bytes,
                (arrays[a].end - arrays[a].start) / arrays[a].cell_bytes);
    }
    fputc(']', out);
}

static void write_step(const struct terms &terms, const step_number &number,
                       const std::map<warp_number, warp_step> &warps, FILE *out)
{
    const char *comma = "";
    fprintf(out, "{\"barriers\":%u,\"collectives\":%u,\"requests\":[", number.barriers,
            number.collectives);
    for (const auto &[warp, step] : warps)
        for (const traced_request &request : step.requests) {
            fputs(comma, out);
            write_request(terms, warp, request, out);
            comma = ",";
        }
    fputs("]}", out);
}

/* Returns how many steps were left out. */
static size_t write_steps(const struct terms &terms, const traced_launch &launch, long most,
                          FILE *out)
{
    size_t left_out = 0;
    const char *comma = "";
    for (const auto &[number, warps] : launch.steps) {
        if (ftell(out) > most) {
            left_out++;
            continue;
        }
        fputs(comma, out);
        write_step(terms, number, warps, out);
        comma = ",";
    }
    return left_out;
}

void write_trace(const struct trace *trace, FILE *out)
{
    const struct terms terms = {arrays_of(trace), lines_of(trace)};
    const long most = ftell(out) + MOST_TRACE_BYTES;
    size_t left_out = 0;
    const char *comma = "";
    write_arrays(trace, terms.arrays, out);
    fputs(",\"launches\":[", out);
    for (const traced_launch &launch : trace->launches) {
        fprintf(out, "%s{\"kernel\":", comma);
        write_text(launch.kernel.c_str(), out);
        fprintf(out, ",\"grid\":%" PRIu64 ",\"block\":%u,\"shared_bytes\":%zu,\"steps\":[",
                launch.grid, launch.block, launch.shared_bytes);
        left_out += write_steps(terms, launch, most, out);
        fputs("]}", out);
        comma = ",";
    }
    fprintf(out, "],\"steps_left_out\":%zu", left_out);
}

} // namespace emulator_cuda
