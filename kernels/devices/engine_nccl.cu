/* engine_nccl: members exchange data through NCCL.
 * Source:  NVIDIA NCCL 2, loaded when it is first used: no build needs it.
 * Relies:  on one process, whose communicators are kept until it ends. */
#include "team.cuh"

#include <dlfcn.h>

namespace SCANBENCH_BACKEND
{

namespace nccl
{

using communicator = struct ncclComm *;
enum result { SUCCESS = 0 };
enum data_type { BYTES = 0 /* ncclInt8 */ };

/* The functions of the library that are called here. */
struct library {
    void *handle;
    result (*get_version)(int *version);
    const char *(*get_error_string)(result error);
    result (*init_all)(communicator *communicators, int count, const int *devices);
    result (*group_start)();
    result (*group_end)();
    result (*all_gather)(const void *from, void *to, size_t count, data_type type,
                         communicator communicator, cudaStream_t stream);
    result (*send)(const void *from, size_t count, data_type type, int peer,
                   communicator communicator, cudaStream_t stream);
    result (*receive)(void *to, size_t count, data_type type, int peer, communicator communicator,
                      cudaStream_t stream);
};

template <class Function> static bool find(void *handle, const char *name, Function *function)
{
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    return *function != nullptr;
}

static library load()
{
    library found = {};
    found.handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (found.handle == nullptr || !find(found.handle, "ncclGetVersion", &found.get_version) ||
        !find(found.handle, "ncclGetErrorString", &found.get_error_string) ||
        !find(found.handle, "ncclCommInitAll", &found.init_all) ||
        !find(found.handle, "ncclGroupStart", &found.group_start) ||
        !find(found.handle, "ncclGroupEnd", &found.group_end) ||
        !find(found.handle, "ncclAllGather", &found.all_gather) ||
        !find(found.handle, "ncclSend", &found.send) ||
        !find(found.handle, "ncclRecv", &found.receive))
        found.handle = nullptr;
    return found;
}

static const library &lib()
{
    static const library loaded = load();
    return loaded;
}

static void check(const struct call *call, result error)
{
    if (error != SUCCESS)
        fail(queue_of(call), "NCCL", lib().get_error_string(error));
}

/* One communicator per member, for the devices of the current team. */
static communicator communicators[MOST_MEMBERS];

static void prepare(const struct team *team)
{
    static int devices[MOST_MEMBERS];
    static unsigned count;
    bool same = count == team->here;
    for (unsigned m = 0; m < team->here; m++) {
        same = same && devices[m] == queue_of(&team->call[m])->device;
        devices[m] = queue_of(&team->call[m])->device;
    }
    if (same)
        return;
    const result error = lib().init_all(communicators, (int)team->here, devices);
    check(team->call, error);
    count = error == SUCCESS ? team->here : 0;
}

/* Calls f(call, member, communicator) for every member, as one operation of the library. */
template <class Function> static void as_group(const struct team *team, Function f)
{
    check(team->call, lib().group_start());
    on_each_member(team, [&](const struct call *call, unsigned member) {
        f(call, member, communicators[member]);
    });
    check(team->call, lib().group_end());
}

static void all_gather(const struct team *team, uint32_t, size_t from, size_t to, size_t bytes)
{
    as_group(team, [&](const struct call *call, unsigned, communicator communicator) {
        check(call, lib().all_gather(at_place<char>(call, from), at_place<char>(call, to), bytes,
                                     BYTES, communicator, queue_of(call)->stream));
    });
}

/* The library takes the lengths of runs from the host. */
static bool read_counts(const struct team *team, size_t place, uint64_t *counts)
{
    const struct call *call = team->call;
    queue *queue = queue_of(call);
    return succeeded(queue, "device", cudaSetDevice(queue->device)) &&
           succeeded(queue, "counts",
                     cudaMemcpyAsync(counts, at_place<char>(call, place),
                                     team->size * team->size * sizeof *counts,
                                     cudaMemcpyDeviceToHost, queue->stream)) &&
           succeeded(queue, "counts", cudaStreamSynchronize(queue->stream));
}

static void exchange_runs(const struct team *team, uint32_t, size_t from, size_t to, size_t place)
{
    static uint64_t counts[MOST_MEMBERS * MOST_MEMBERS];
    const unsigned size = team->size;
    const size_t bytes = element_bytes(team->call->problem.type);
    if (!read_counts(team, place, counts))
        return;
    as_group(team, [&](const struct call *call, unsigned member, communicator communicator) {
        const char *out = at_place<char>(call, from);
        char *in = at_place<char>(call, to);
        for (unsigned k = 0; k < size; k++) {
            const size_t sent = counts[member * size + k] * bytes;
            const size_t got = counts[k * size + member] * bytes;
            check(call, lib().send(out, sent, BYTES, (int)k, communicator, queue_of(call)->stream));
            check(call,
                  lib().receive(in, got, BYTES, (int)k, communicator, queue_of(call)->stream));
            out += sent;
            in += got;
        }
    });
}

static const char *supports(const struct problem *problem)
{
    if (problem->device->processes > 1)
        return "the devices belong to several processes";
    return lib().handle == nullptr ? "no libnccl.so.2 here" : nullptr;
}

static const char *library_version()
{
    static char text[32];
    int version = 0;
    if (lib().handle == nullptr || lib().get_version(&version) != SUCCESS)
        return nullptr;
    snprintf(text, sizeof text, "NCCL %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return text;
}

} // namespace nccl

} // namespace SCANBENCH_BACKEND

ENGINE_DESCRIPTOR(engine_nccl) = {
    .name = "nccl",
    .summary = "all-gather, and grouped sends and receives of NCCL",
    .source = "NVIDIA NCCL",
    .runs_traits = TRAIT_SYNCHRONISES,
    .library_version = SCANBENCH_BACKEND::nccl::library_version,
    .supports = SCANBENCH_BACKEND::nccl::supports,
    .prepare = SCANBENCH_BACKEND::nccl::prepare,
    .all_gather = SCANBENCH_BACKEND::nccl::all_gather,
    .exchange_runs = SCANBENCH_BACKEND::nccl::exchange_runs,
};
