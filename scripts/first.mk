# A program of a few algorithms, in a third of the time. `make run` builds it where there is no GPU and no
# whole program yet (FIRST=1). Its objects are those of the whole program without CUDA, which `make NVCC=` completes: with nvcc,
# `make` compiles GPU code, which takes minutes.
IS_WHOLE := $(and $(wildcard $(PROGRAM)),$(if $(findstring SCANBENCH_FIRST,$(file <$(BUILD)/flags/TABLE)),,whole))
FIRST    := $(or $(FIRST),$(if $(and $(filter run,$(FOR)),$(if $(NVCC)$(IS_WHOLE),,first)),1))

ifneq ($(FIRST),)
FIRST_ALGORITHMS := $(addprefix scan_,serial serial_O0 simd parallel omp_scan naive efficient efficient_smem \
                    efficient_smem_padded warp_shuffle) memcpy empty
FIRST_SOURCES    := $(wildcard $(foreach f,$(FIRST_ALGORITHMS),cpu/$f.c kernels/$f.cu kernels/*/$f.cu) \
                    cpu/engine_*.c kernels/devices/engine_*.cu) kernels/segment_heads.cu \
                    $(addprefix cpu/,scan_kernels.c recurrence_kernels.c stream_copy.c threads.c)
first_of          = $(filter-out library/% $(filter-out $(FIRST_SOURCES),$(wildcard cpu/*.c) $(KERNELS)),$(1))
C_SOURCES        := $(call first_of,$(C_SOURCES))
CU_SOURCES       := $(call first_of,$(CU_SOURCES))
LIBRARIES        :=
TABLE            := $(BUILD)/generated/first.def
$(shell mkdir -p $(BUILD)/generated; sed -nE \
    '/^[A-Z]+\([A-Z]+, ($(subst $(space),|,$(strip $(FIRST_ALGORITHMS))))\)$$/p' bench/algorithms.def >$(TABLE))
endif
