/* cuda_check: fills inputs and checks results in device memory. */
#include "cuda_device.cuh"

#include "chunk_reduction.h"

#include <vector>

namespace SCANBENCH_BACKEND
{

/* ---- kernels ---- */

__global__ void fill_input_kernel(const __grid_constant__ struct input input, void *array)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = global_thread(); i < input.n; i += threads)
        element_store(input.type, array, i, input_element(&input, i));
}

__global__ void first_wrong_kernel(const __grid_constant__ struct check check,
                                   unsigned long long *first_wrong)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = check.from + global_thread(); i < check.input.n; i += threads)
        if (!check_passes(&check, i)) {
            atomicMin(first_wrong, (unsigned long long)i);
            return;
        }
}

__global__ void count_kept_kernel(const __grid_constant__ struct input input,
                                  unsigned long long *kept)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t c = global_thread(); c < chunk_count(&input); c += threads)
        kept[c] = kept_in_chunk(&input, c);
}

__global__ void chunk_reduction_kernel(const __grid_constant__ struct input input,
                                       unsigned long long *sums)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t c = global_thread(); c < chunk_count(&input); c += threads)
        sums[c] = chunk_reduction(&input, c);
}

__global__ void first_wrong_kept_kernel(const __grid_constant__ struct check check,
                                        const unsigned long long *starts,
                                        unsigned long long *first_wrong)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t c = global_thread(); c < chunk_count(&check.input); c += threads) {
        uint64_t at = starts[c];
        const int64_t wrong = first_wrong_of_chunk(&check, c, &at);
        if (wrong != NO_INDEX)
            atomicMin(first_wrong, (unsigned long long)wrong);
    }
}

__global__ void first_wrong_sum_kernel(const __grid_constant__ struct check check,
                                       const unsigned long long *sums,
                                       unsigned long long *first_wrong)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t c = global_thread(); c < chunk_count(&check.input); c += threads) {
        const int64_t wrong = first_wrong_sum_of_chunk(&check, c, sums[c]);
        if (wrong != NO_INDEX)
            atomicMin(first_wrong, (unsigned long long)wrong);
    }
}

__global__ void digest_kernel(const __grid_constant__ struct input input, const void *array,
                              unsigned long long *words)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    struct digest digest = {0, 0};
    for (uint64_t i = global_thread(); i < input.n; i += threads)
        digest_element(&digest, array != nullptr ? element_load(input.type, array, i)
                                                 : input_element(&input, i));
    atomicAdd(&words[0], (unsigned long long)digest.sum);
    atomicXor(&words[1], (unsigned long long)digest.parity);
}

/* ---- host side ---- */

const char *fill_input(cuda_device *device, const struct input *input, void *array)
{
    launch<fill_input_kernel>(&device->work, harness_shape(device, input->n), *input, array);
    return finish(device, "cannot fill the input");
}

/* Allocates one word per chunk of the input. */
static const char *reserve(cuda_device *device, chunk_words *words, uint64_t chunks)
{
    if (chunks <= words->capacity)
        return nullptr;
    cudaFree(words->d_words);
    *words = {};
    const cudaError_t error = cudaMalloc(&words->d_words, chunks * sizeof *words->d_words);
    if (error != cudaSuccess) {
        cudaGetLastError();
        return because(device, "cannot allocate for the check", error);
    }
    words->capacity = chunks;
    return nullptr;
}

/* Copies the kernel's result for each chunk to the host, where they are combined, so that none
 * of our scans and reductions is judged by another. */
template <auto Kernel>
static const char *look_at_chunks(cuda_device *device, const struct input *input,
                                  chunk_words *words, const char *failure,
                                  std::vector<unsigned long long> *found)
{
    const uint64_t chunks = chunk_count(input);
    const char *why = reserve(device, words, chunks);
    if (why != nullptr)
        return why;
    launch<Kernel>(&device->work, harness_shape(device, chunks), *input, words->d_words);
    why = finish(device, failure);
    found->resize(chunks);
    if (why == nullptr)
        why = read_device(device, found->data(), words->d_words, chunks * sizeof(*found)[0]);
    return why;
}

/* Copies a word per chunk to the device, on the stream that reads the data next: a copy on another
 * stream might still be running. */
static const char *write_words(cuda_device *device, const std::vector<unsigned long long> &from,
                               chunk_words *words)
{
    if (from.empty())
        return nullptr;
    const cudaError_t error =
        cudaMemcpyAsync(words->d_words, from.data(), from.size() * sizeof from[0],
                        cudaMemcpyHostToDevice, device->work.stream);
    return error == cudaSuccess ? nullptr : because(device, "cannot write to the device", error);
}

/* Counts the kept elements, and leaves the count before each chunk on the device for
 * first_wrong(). */
const char *count_kept(cuda_device *device, const struct input *input, uint64_t *count)
{
    std::vector<unsigned long long> starts;
    const char *why = look_at_chunks<count_kept_kernel>(
        device, input, &device->starts, "cannot count the elements to keep", &starts);
    *count = 0;
    for (unsigned long long &start : starts) {
        const unsigned long long kept = start;
        start = *count;
        *count += kept;
    }
    return why == nullptr ? write_words(device, starts, &device->starts) : why;
}

const char *reduce_input(cuda_device *device, const struct input *input, uint64_t *bits)
{
    std::vector<unsigned long long> sums;
    const char *why = look_at_chunks<chunk_reduction_kernel>(device, input, &device->sums,
                                                             "cannot reduce the input", &sums);
    *bits = sum_of_none(input);
    for (const unsigned long long sum : sums)
        *bits = element_apply(input->binary_operator, sum_type(input->type), *bits, sum);
    return why;
}

/* Leaves the sum before each chunk, of the segment that the chunk begins in, on the device. */
static const char *prepare_sums(cuda_device *device, const struct input *input)
{
    std::vector<unsigned long long> sums;
    const char *why = look_at_chunks<chunk_reduction_kernel>(device, input, &device->sums,
                                                             "cannot reduce the input", &sums);
    uint64_t before = sum_of_none(input);
    for (uint64_t c = 0; c < sums.size() && why == nullptr; c++) {
        const uint64_t reduction = sums[c];
        sums[c] = before;
        before = sum_at_end(input, c, before, reduction);
    }
    return why == nullptr ? write_words(device, sums, &device->sums) : why;
}

const char *first_wrong(cuda_device *device, const struct check *check, int64_t *index)
{
    unsigned long long found = 0;
    const char *why = check->kind == CHECK_SUMS ? prepare_sums(device, &check->input) : nullptr;
    if (why != nullptr)
        return why;
    succeeded(&device->work, "check",
              cudaMemsetAsync(device->d_found, 0xFF, sizeof found, device->work.stream));
    if (check->kind == CHECK_KEPT)
        launch<first_wrong_kept_kernel>(&device->work,
                                        harness_shape(device, chunk_count(&check->input)), *check,
                                        device->starts.d_words, device->d_found);
    else if (check->kind == CHECK_SUMS)
        launch<first_wrong_sum_kernel>(&device->work,
                                       harness_shape(device, chunk_count(&check->input)), *check,
                                       device->sums.d_words, device->d_found);
    else
        launch<first_wrong_kernel>(&device->work, harness_shape(device, check->input.n), *check,
                                   device->d_found);
    why = finish(device, "cannot check the result");
    if (why == nullptr)
        why = read_device(device, &found, device->d_found, sizeof found);
    *index = found == ~0ull ? (int64_t)NO_INDEX : (int64_t)found;
    return why;
}

const char *digest_of(cuda_device *device, const struct input *input, const void *array,
                      struct digest *digest)
{
    unsigned long long words[2] = {0, 0};
    succeeded(&device->work, "check",
              cudaMemsetAsync(device->d_found, 0, sizeof words, device->work.stream));
    launch<digest_kernel>(&device->work, harness_shape(device, input->n), *input, array,
                          device->d_found);
    const char *why = finish(device, "cannot check the result");
    if (why == nullptr)
        why = read_device(device, words, device->d_found, sizeof words);
    *digest = {words[0], words[1]};
    return why;
}

} // namespace SCANBENCH_BACKEND
