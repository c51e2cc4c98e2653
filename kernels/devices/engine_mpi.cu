/* engine_mpi: members in several processes exchange data by messages, through the hosts' memory.
 * Source:  the MPI standard; the harness waits for the messages, and for processes that end.
 * Relies:  on nothing of MPI but host memory: a build of it need not know of GPUs. */
#include "../../bench/base/processes.h"
#include "team.cuh"

#include <vector>

namespace SCANBENCH_BACKEND
{

namespace mpi
{

/* What goes to other processes and comes from them. */
static std::vector<char> outgoing, incoming;

static void copy(const struct call *call, void *to, const void *from, size_t bytes,
                 cudaMemcpyKind kind)
{
    if (bytes > 0)
        succeeded(queue_of(call), "copy",
                  cudaMemcpyAsync(to, from, bytes, kind, queue_of(call)->stream));
}

static void wait_for_copies(const struct team *team)
{
    on_each_member(team, [](const struct call *call, unsigned) {
        succeeded(queue_of(call), "copy", cudaStreamSynchronize(queue_of(call)->stream));
    });
}

/* Processes go on whatever has failed in one of them: the others wait for its messages. */
static void all_gather(const struct team *team, uint32_t, size_t from, size_t to, size_t bytes)
{
    outgoing.resize(team->here * bytes);
    incoming.resize(team->size * bytes);
    on_each_member(team, [&](const struct call *call, unsigned member) {
        copy(call, &outgoing[(member - team->first) * bytes], at_place<char>(call, from), bytes,
             cudaMemcpyDeviceToHost);
    });
    wait_for_copies(team);
    gather_from_processes(outgoing.data(), team->here * bytes, incoming.data());
    on_each_member(team, [&](const struct call *call, unsigned) {
        copy(call, at_place<char>(call, to), incoming.data(), team->size * bytes,
             cudaMemcpyHostToDevice);
    });
}

/* The bytes of all runs. */
struct runs {
    unsigned size;
    std::vector<uint64_t> counts;
    size_t element_bytes;

    size_t bytes(unsigned sender, unsigned receiver) const
    {
        return counts[sender * size + receiver] * element_bytes;
    }

    /* Bytes of the runs to earlier receivers, where the sender has them. */
    size_t bytes_before_sent(unsigned sender, unsigned receiver) const
    {
        size_t before = 0;
        for (unsigned k = 0; k < receiver; k++)
            before += bytes(sender, k);
        return before;
    }

    /* Bytes of the runs from earlier senders, where the receiver gets them. */
    size_t bytes_before_got(unsigned sender, unsigned receiver) const
    {
        size_t before = 0;
        for (unsigned k = 0; k < sender; k++)
            before += bytes(k, receiver);
        return before;
    }
};

static runs read_runs(const struct team *team, size_t counts)
{
    const struct call *call = team->call;
    runs runs = {team->size, std::vector<uint64_t>(team->size * team->size),
                 element_bytes(call->problem.type)};
    if (succeeded(queue_of(call), "device", cudaSetDevice(queue_of(call)->device)))
        copy(call, runs.counts.data(), at_place<char>(call, counts),
             runs.counts.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost);
    wait_for_copies(team);
    return runs;
}

/* Copies every run of this process's members that process p gets to `outgoing`, or every one that
 * p sends to them from `incoming`: in both processes in the order of senders, then receivers.
 * Returns their bytes. */
template <class Function>
static size_t each_run(const struct team *team, const runs &runs, unsigned p, bool sent, Function f)
{
    const unsigned senders = sent ? team->first : p * team->here;
    const unsigned receivers = sent ? p * team->here : team->first;
    size_t total = 0;
    for (unsigned k = senders; k < senders + team->here; k++)
        for (unsigned j = receivers; j < receivers + team->here; j++) {
            f(k, j, total);
            total += runs.bytes(k, j);
        }
    return total;
}

static void exchange_runs(const struct team *team, uint32_t, size_t from, size_t to, size_t counts)
{
    const runs runs = read_runs(team, counts);
    const unsigned process_count = team->size / team->here;
    std::vector<size_t> sent(process_count), got(process_count);
    size_t out = 0, in = 0;
    for (unsigned p = 0; p < process_count; p++) {
        sent[p] = each_run(team, runs, p, true, [](unsigned, unsigned, size_t) {});
        got[p] = each_run(team, runs, p, false, [](unsigned, unsigned, size_t) {});
        out += sent[p];
        in += got[p];
    }
    outgoing.resize(out);
    incoming.resize(in);
    out = in = 0;
    for (unsigned p = 0; p < process_count; p++)
        out += each_run(team, runs, p, true, [&](unsigned k, unsigned j, size_t at) {
            const struct call *call = &team->call[k - team->first];
            copy(call, outgoing.data() + out + at,
                 at_place<char>(call, from) + runs.bytes_before_sent(k, j), runs.bytes(k, j),
                 cudaMemcpyDeviceToHost);
        });
    wait_for_copies(team);
    exchange_between_processes(outgoing.data(), sent.data(), incoming.data(), got.data());
    for (unsigned p = 0; p < process_count; p++)
        in += each_run(team, runs, p, false, [&](unsigned k, unsigned j, size_t at) {
            const struct call *call = &team->call[j - team->first];
            copy(call, at_place<char>(call, to) + runs.bytes_before_got(k, j),
                 incoming.data() + in + at, runs.bytes(k, j), cudaMemcpyHostToDevice);
        });
}

static const char *supports(const struct problem *)
{
    return why_no_processes();
}

} // namespace mpi

} // namespace SCANBENCH_BACKEND

ENGINE_DESCRIPTOR(engine_mpi) = {
    .name = "mpi",
    .summary = "messages between processes",
    .source = "MPI",
    .traits = TRAIT_SYNCHRONISES,
    .supports = SCANBENCH_BACKEND::mpi::supports,
    .missing = missing_for_processes,
    .all_gather = SCANBENCH_BACKEND::mpi::all_gather,
    .exchange_runs = SCANBENCH_BACKEND::mpi::exchange_runs,
};
