/* stub_algorithms: the table built from tests/unit/stub_algorithms.def, for tests of the
 * command line. Link it instead of bench/table.c. It stands for a build without nvcc, unless
 * compiled with -DSTUB_CUDA. */
#undef SCANBENCH_CUDA
#undef SCANBENCH_TABLE
#ifdef STUB_CUDA
#define SCANBENCH_CUDA
#endif
#define SCANBENCH_TABLE "../tests/unit/stub_algorithms.def"
#include "../../bench/table.c"

#define STUB(symbol, its_name, its_op, its_family, its_traits) \
    const struct algorithm symbol = {                          \
        .name = its_name, .op = its_op, .family = its_family, .traits = its_traits}
#define STUB_MEMCPY(symbol, its_traits)                        \
    const struct algorithm symbol = {.name = "memcpy",         \
                                     .op = OP_SCAN,            \
                                     .family = FAMILY_CEILING, \
                                     .result = RESULT_COPY,    \
                                     .traits = its_traits}
#define STUB_GPU(op_name, its_name, its_op, its_family)                      \
    STUB(emulated_##op_name, its_name, its_op, its_family, TRAIT_HAS_BLOCK); \
    STUB(gpu_##op_name, its_name, its_op, its_family, TRAIT_HAS_BLOCK)

const struct algorithm cpu_scan_serial = {
    .name = "serial", .op = OP_SCAN, .family = FAMILY_OWN, .operator_types = ALL_TYPES};
STUB(cpu_scan_parallel, "parallel", OP_SCAN, FAMILY_OWN, TRAIT_HAS_THREADS);
STUB_GPU(scan_naive, "naive", OP_SCAN, FAMILY_OWN);
STUB_GPU(scan_efficient, "efficient", OP_SCAN, FAMILY_OWN);
STUB_GPU(scan_efficient_smem, "efficient-smem", OP_SCAN, FAMILY_OWN);
STUB(gpu_scan_thrust, "thrust", OP_SCAN, FAMILY_LIBRARY, TRAIT_SYNCHRONISES);
STUB_MEMCPY(cpu_scan_memcpy, TRAIT_HAS_THREADS);
STUB_MEMCPY(gpu_scan_memcpy, 0);
STUB_MEMCPY(emulated_scan_memcpy, 0);
STUB(cpu_compact_serial, "serial", OP_COMPACT, FAMILY_OWN, 0);
STUB(cpu_compact_serial_scan, "serial-scan", OP_COMPACT, FAMILY_OWN, 0);
STUB_GPU(compact_naive, "naive", OP_COMPACT, FAMILY_OWN);
STUB_GPU(compact_over_scan, "over-scan", OP_COMPACT, FAMILY_OWN);

static void run_slices(const struct team *team)
{
    (void)team;
}
#define STUB_SLICES(symbol)           \
    const struct algorithm symbol = { \
        .name = "slices", .op = OP_SCAN, .family = FAMILY_OWN, .run_slices = run_slices}
STUB_SLICES(gpu_scan_slices);
STUB_SLICES(emulated_scan_slices);

const struct engine cpu_engine_mpi = {.name = "mpi"}, emulated_engine_mpi = {.name = "mpi"},
                    emulated_engine_peer = {.name = "peer"}, gpu_engine_mpi = {.name = "mpi"},
                    gpu_engine_peer = {.name = "peer"}, gpu_engine_nccl = {.name = "nccl"};
