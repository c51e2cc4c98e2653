# scanbench. `make` builds ./scanbench; `make run` and `make test` are the way in.
#
#   make            build                 make run     build, run, show a table
#   make test       everything testable   make check   format, lint, include rules
#   make mutants    is code found that is wrong on purpose? MUTANTS=pattern
#   make sweep      measure all sizes     make plots   draw what results/ holds
#   make report     results/report.html   make fuzz    look for crashes, FUZZ_SECONDS=60
#   make install    PREFIX=/usr/local DESTDIR=     make uninstall, make dist
#   make deps       install what is needed (Debian, Ubuntu)
#   make format     as .clang-format says        make clean, make help
#
# Settings, each `make NAME=value`:
#   NVCC=           the CUDA compiler; empty: a build without CUDA
#   ARCHS="80 90"   GPU architectures; default: the GPUs here, else 80 and 90.
#                   PTX for the newest is always added.
#   CFLAGS, CXXFLAGS, NVCCFLAGS, WERROR=1, BUILD=dir, PROGRAM=file

VERSION := 0.1.0
BUILD   ?= build
PROGRAM ?= scanbench

CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda /opt/cuda))
NVCC      ?= $(shell command -v nvcc || ls $(CUDA_HOME)/bin/nvcc 2>/dev/null)
ifneq ($(NVCC),)
# Where its runtime library lies nvcc itself knows best: it may be a wrapper.
CUDA_LIBS := $(shell $(NVCC) --dryrun -x cu /dev/null 2>&1 | sed -n 's/^.. LIBRARIES=//p' | \
             tr -d '"') -lcudart_static
ifeq ($(shell echo 'int main() {}' | $(CXX) -x c++ -o /dev/null - $(CUDA_LIBS) >/dev/null 2>&1 && echo yes),)
$(if $(shell command -v $(firstword $(CXX))),$(info $(NVCC) comes without libcudart_static, so it cannot be used))
override NVCC :=
endif
endif
ifneq ($(NVCC),)
ARCHS     ?= $(or $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
             tr -d . | grep -E '^[0-9]+$$' | sort -nu),80 90)
NEWEST    := $(lastword $(ARCHS))
GENCODE   := $(foreach a,$(ARCHS),-gencode=arch=compute_$(a),code=sm_$(a)) \
             -gencode=arch=compute_$(NEWEST),code=compute_$(NEWEST)
NVCC_VERSION := $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/nvcc_\1/p')
endif

CFLAGS    ?= -O3 -g
CXXFLAGS  ?= -O3 -g
NVCCFLAGS ?= -O3 -lineinfo
WARNINGS  := -Wall -Wextra -Wno-missing-field-initializers -Wno-unknown-pragmas \
             $(if $(WERROR),-Werror)
comma     := ,
empty     :=
space     := $(empty) $(empty)

CPPFLAGS  += -I$(BUILD)/generated $(if $(NVCC),-DSCANBENCH_CUDA) \
             $(if $(EXTRA_TABLE),-DSCANBENCH_EXTRA_TABLE='"$(EXTRA_TABLE)"' -I.)
OPENMP    := -fopenmp
ALL_CFLAGS    = -std=gnu11 $(WARNINGS) $(OPENMP) $(CFLAGS)
ALL_CXXFLAGS  = -std=c++20 $(WARNINGS) $(OPENMP) $(CXXFLAGS)
ALL_NVCCFLAGS = -std=c++20 $(GENCODE) $(NVCCFLAGS) -DSCANBENCH_BACKEND=gpu \
                -Xcompiler=$(subst $(space),$(comma),$(strip $(WARNINGS)))

# C++ libraries to compare with, each if it compiles and links: a row without its
# library says what to install.
links = $(shell echo 'int main() {}' | $(CXX) -std=c++20 -x c++ $(1) -o /dev/null - $(2) \
        >/dev/null 2>&1 && echo yes)
ifneq ($(call links,-include tbb/parallel_scan.h,-ltbb),)
LIBRARY_FLAGS += -DSCANBENCH_TBB
LDLIBS        += -ltbb
endif
ifneq ($(call links,-include hwy/contrib/sort/vqsort.h,-lhwy_contrib -lhwy),)
LIBRARY_FLAGS += -DSCANBENCH_HIGHWAY
LDLIBS        += -lhwy_contrib -lhwy
endif
THRUST_FLAGS  := $(addprefix -isystem ,$(wildcard $(CUDA_HOME)/include/cccl)) \
                 -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP
ifneq ($(call links,$(OPENMP) $(THRUST_FLAGS) -include thrust/scan.h,),)
LIBRARY_FLAGS += -DSCANBENCH_THRUST $(THRUST_FLAGS)
endif

LDLIBS    += $(OPENMP) -ljansson -lm -ldl -lpthread -lrt

# What calls a device library has no emulated twin: the table says which.
DEVICE_ONLY  := $(shell sed -n 's/^ALGORITHM(DEVICE, *\([a-z0-9_]*\))/kernels\/\1.cu/p' \
                bench/algorithms.def)
C_SOURCES    := scanbench.c $(wildcard bench/*.c cpu/*.c timing/*.c) $(EXTRA_C)
CU_SOURCES   := bench/backend_device.cu $(wildcard kernels/*.cu) $(EXTRA_CU)
GPU_SOURCES  := $(CU_SOURCES) $(wildcard timing/*.cu)
EMULATED     := $(filter-out $(DEVICE_ONLY),$(CU_SOURCES))
EMULATOR     := $(wildcard emulator/*.cpp)
LIBRARIES    := $(wildcard cpu/*.cpp)

OBJECTS := $(C_SOURCES:%.c=$(BUILD)/%.o) $(EMULATOR:%.cpp=$(BUILD)/%.o) \
           $(LIBRARIES:%.cpp=$(BUILD)/%.o) \
           $(EMULATED:%.cu=$(BUILD)/emulated/%.o)
ifneq ($(NVCC),)
OBJECTS += $(GPU_SOURCES:%.cu=$(BUILD)/gpu/%.o)
LDLIBS  += $(CUDA_LIBS)
endif

all: $(PROGRAM)

$(PROGRAM): $(OBJECTS) $(BUILD)/flags
	$(CXX) $(LDFLAGS) $(CXXFLAGS) -o $@ $(OBJECTS) $(LDLIBS)

# A stamp that changes when the flags do, and with it everything.
FLAGS = $(CC) $(CXX) $(NVCC) $(CPPFLAGS) $(LIBRARY_FLAGS) $(ALL_CFLAGS) $(ALL_CXXFLAGS) $(ALL_NVCCFLAGS) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' > $@
	$(if $(NVCC)$(findstring command,$(origin NVCC)),,@echo \
	    "no nvcc: building without CUDA; GPU algorithms run in the emulator")

# What --version and each row say of the build; rewritten only when it changes.
$(BUILD)/generated/version.h: FORCE
	@mkdir -p $(@D)
	@sh scripts/version.sh '$(VERSION)' '$(CC)' '$(NVCC_VERSION)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/generated/version.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/cpu/%.o: cpu/%.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) -I. $(LIBRARY_FLAGS) $(CPPFLAGS) $(ALL_CXXFLAGS) -MMD -MP -c -o $@ $<

# Thrust passes an execution policy by reference that is nowhere, and never looks at
# it: not for us to mend.
$(BUILD)/cpu/thrust_omp.o: private ALL_CXXFLAGS += -fno-sanitize=null

$(BUILD)/%.o: %.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) -Iemulator -DSCANBENCH_BACKEND=emulated $(CPPFLAGS) $(ALL_CXXFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/emulated/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) -Iemulator -DSCANBENCH_BACKEND=emulated $(CPPFLAGS) $(ALL_CXXFLAGS) -MMD -MP -x c++ -c -o $@ $<

$(BUILD)/gpu/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) $(CPPFLAGS) $(ALL_NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

-include $(OBJECTS:.o=.d)

include scripts/targets.mk

.PHONY: all FORCE
.DELETE_ON_ERROR:
