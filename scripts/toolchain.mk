# The compilers and libraries to build with. scripts/toolchain.sh looks for them, which
# takes seconds, so the file FOUND keeps the result until something changes that it
# may depend on: the settings below, a compiler, or the folders into which packages and
# the CUDA Toolkit are installed.
FOUND := $(BUILD)/toolchain.mk

# Targets that build nothing, or build with a make of their own, do not need the toolchain.
NEEDS_NO_TOOLCHAIN := help deps run plots report test test-long test-notebook check format clean uninstall \
                      dist wheel asan asan-program tsan fuzz broken mpi
ifneq ($(filter-out $(NEEDS_NO_TOOLCHAIN),$(or $(MAKECMDGOALS),all)),)

CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda /opt/cuda))
ifeq ($(origin NVCC),undefined)
NVCC      := $(or $(shell command -v nvcc),$(wildcard $(CUDA_HOME)/bin/nvcc))
endif
TRIED_NVCC := $(NVCC)
program    = $(shell command -v $(firstword $(1)))

TOOLCHAIN := $(strip $(CC) $(CXX) $(TRIED_NVCC) $(CUDA_HOME) $(CPATH) $(CPLUS_INCLUDE_PATH) $(LIBRARY_PATH) \
             $(wildcard /dev/nvidia[0-9]* /dev/dxg))
INSTALLED_INTO := $(wildcard /usr/include /usr/local /usr/local/include /opt \
             $(subst :, ,$(CPATH) $(CPLUS_INCLUDE_PATH)))

-include $(FOUND)

# Only once per make: a folder with a time in the future would always be newer.
ifeq ($(MAKE_RESTARTS),)
ifneq ($(TOOLCHAIN),$(strip $(FOUND_FOR)))
$(FOUND): FORCE
endif
$(FOUND): scripts/toolchain.sh $(INSTALLED_INTO) $(call program,$(CXX)) $(call program,$(NVCC))
	@mkdir -p $(@D)
	@CXX='$(CXX)' NVCC='$(TRIED_NVCC)' CUDA_HOME='$(CUDA_HOME)' sh $< '$(TOOLCHAIN)' >$@.$$$$ && mv $@.$$$$ $@
endif

# From here on NVCC is a usable nvcc or empty; it is also empty if `make run` (FOR=run) finds
# no GPU and the GPU code has not been built.
NVCC_SETTING := $(origin NVCC)
override NVCC := $(if $(and $(filter run,$(FOR)),$(if $(GPU_ARCHS)$(wildcard $(BUILD)/gpu),,none)),,$(USABLE_NVCC))

# Without a GPU, tests (FOR=test) need no machine code, or that of the architectures already built.
BUILT_ARCHS = $(shell grep -o 'code=sm_[0-9a-z]*' $(BUILD)/flags/NVCC 2>/dev/null | sed 's/code=sm_//')
ARCHS     ?= $(or $(GPU_ARCHS),$(if $(filter test,$(FOR)),$(BUILT_ARCHS),80 90))
NEWEST    := $(or $(lastword $(ARCHS)),90)
GENCODE   := $(foreach a,$(ARCHS),-gencode=arch=compute_$(a),code=sm_$(a)) \
             -gencode=arch=compute_$(NEWEST),code=compute_$(NEWEST)

endif
