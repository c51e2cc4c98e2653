/* emulated_timer: timing/gpu_timer.cuh for the emulator, where a launch returns when its work
 * is done. There is nothing to hold and no device cache to flush. */
#include "../timing/gpu_timer.cuh"

namespace SCANBENCH_BACKEND
{

cudaError_t open_timer(gpu_timer *timer, cudaStream_t stream, size_t)
{
    *timer = gpu_timer{};
    timer->stream = stream;
    return create_events(timer);
}

void close_timer(gpu_timer *timer)
{
    destroy_events(timer);
}

cudaError_t set_cache_state(gpu_timer *, enum cache_state)
{
    return cudaSuccess;
}
cudaError_t forget_kept_lines(void)
{
    return cudaSuccess;
}
cudaError_t hold_stream(gpu_timer *)
{
    return cudaSuccess;
}
void let_go(gpu_timer *)
{
}

} // namespace SCANBENCH_BACKEND
