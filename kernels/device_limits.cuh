/* device_limits.cuh: what algorithms may ask about a GPU, read from the runtime. */
#pragma once

#include "launch.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* A limit of the device; 0 once there is an error. Keeps the first `error`. */
inline int attribute(cudaDeviceAttr which, int index, cudaError_t *error)
{
    int value = 0;
    const cudaError_t problem = cudaDeviceGetAttribute(&value, which, index);
    if (*error == cudaSuccess)
        *error = problem;
    return problem == cudaSuccess ? value : 0;
}

/* Never launched. It is compiled for the same architectures as all other kernels. */
static __global__ void compiled_kernel()
{
}

/* On a newer GPU than this program was compiled for, kernels are compiled from their PTX, which
 * leaves out what only the newer GPU can do. */
inline int compiled_capability(int capability)
{
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, compiled_kernel) == cudaSuccess)
        return std::min(capability, attributes.ptxVersion);
    cudaGetLastError(); /* launches will say why nothing runs */
    return capability;
}

/* 0 if there are no clusters. If the runtime cannot tell, there are none: what needs them is
 * skipped with that reason, and all else runs. */
inline int most_cluster_blocks(const struct device_limits *limits)
{
    int most = 0;
    if (!has_sm_90(limits))
        return most;
    cudaLaunchConfig_t alone = {}; /* a block that leaves no room for another */
    alone.gridDim = dim3((unsigned)limits->multiprocessors);
    alone.blockDim = dim3(1);
    alone.dynamicSmemBytes = limits->shared_bytes_per_block;
    if (cudaFuncSetAttribute(compiled_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)limits->shared_bytes_per_block) != cudaSuccess ||
        cudaFuncSetAttribute(compiled_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
            cudaSuccess ||
        cudaOccupancyMaxPotentialClusterSize(&most, compiled_kernel, &alone) != cudaSuccess) {
        cudaGetLastError();
        most = 0;
    }
    return most;
}

/* Reads all limits but the kind and the name. An unknown limit would be taken for no limit, so
 * a device with an error is not used. The device must be the current one. */
inline cudaError_t read_limits(int index, struct device_limits *limits)
{
    cudaError_t error = cudaSuccess;
    *limits = {};
    limits->compute_capability =
        compiled_capability(10 * attribute(cudaDevAttrComputeCapabilityMajor, index, &error) +
                            attribute(cudaDevAttrComputeCapabilityMinor, index, &error));
    limits->multiprocessors = attribute(cudaDevAttrMultiProcessorCount, index, &error);
    limits->threads_per_multiprocessor =
        attribute(cudaDevAttrMaxThreadsPerMultiProcessor, index, &error);
    limits->blocks_per_multiprocessor =
        attribute(cudaDevAttrMaxBlocksPerMultiprocessor, index, &error);
    limits->shared_bytes_per_block =
        (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index, &error);
    limits->shared_bytes_per_multiprocessor =
        (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, index, &error);
    limits->cache_bytes = (size_t)attribute(cudaDevAttrL2CacheSize, index, &error);
    limits->cluster_blocks = most_cluster_blocks(limits);
    return error;
}

} // namespace SCANBENCH_BACKEND
