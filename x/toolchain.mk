# What scripts/toolchain.sh found.
FOUND_FOR := cc g++ /usr/local/cuda /usr/local/cuda/lib64/stubs
GPU_ARCHS := 
COUNTING_FLAGS := -fsanitize=thread -fno-omit-frame-pointer -fno-optimize-sibling-calls --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1
TBB_FLAGS := -DSCANBENCH_TBB
TBB_LIBS := -ltbb
HIGHWAY_FLAGS := -DSCANBENCH_HIGHWAY
HIGHWAY_LIBS := -lhwy_contrib -lhwy
THRUST_FLAGS := -DSCANBENCH_THRUST -isystem /usr/local/cuda/include/cccl -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP
THRUST_LIBS := 
