# scanbench. `make` builds ./scanbench; start with `make run` and `make test`.
#
#   make            build                 make run     build, run, show a table
#   make test       on every change       make check   format, lint, include rules
#   make test-long  all tests there are, at night or before a release
#   make mutants    do the tests find deliberate errors? MUTANTS=pattern
#   make sweep      measure all sizes     make plots   draw what results/ holds
#   make report     results/report.html   make fuzz    look for crashes, FUZZ_SECONDS=60
#   make library    libscanbench.a and .so        make wheel   its Python package, see docs/library.md
#   make install    PREFIX=/usr/local DESTDIR=     make uninstall, make dist, make deb
#   make deps       install what is needed (Debian, Ubuntu)
#   make format     apply .clang-format          make clean, make help
#
# Settings, each `make NAME=value`:
#   NVCC=           the CUDA compiler, which must be nvcc; empty: a build without CUDA
#   ARCHS="80 90"   GPU architectures; default: the GPUs here, else 80 and 90.
#                   PTX for the newest is always added.
#   MPI=1           several processes under mpirun, by Open MPI or MPICH
#   CCCL=dir        CUB and Thrust of a checkout of CCCL, instead of the CUDA toolkit's
#   LINEINFO=1      GPU code with the lines of its source, for Nsight's source page; it is twice as large
#   COMPRESS_NVCC=--compress-mode=size   smaller GPU code; nvcc 12.8 or later, and minutes more
#   V=1             print whole commands
#   CFLAGS, CXXFLAGS, NVCCFLAGS, WERROR=1, BUILD=dir, PROGRAM=file

VERSION := 1.0.0
BUILD   ?= build
PROGRAM ?= scanbench

all: # whatever the files below say first

include scripts/toolchain.mk

CFLAGS    ?= -O3 -g1
CXXFLAGS  ?= -O3 -g1
# GPU code that tests compile without a GPU never runs. An nvcc that can do so only checks it. `make test-long` (LONG)
# makes PTX of it, of all types.
NEVER_RUNS := $(filter test,$(FOR)$(strip $(ARCHS)))
ONLY_READ  := $(if $(and $(NEVER_RUNS),$(if $(LONG),,all)),$(READ_BY_NVCC))
NVCCFLAGS ?= $(if $(NEVER_RUNS),-O0 $(QUICK_NVCC)$(if $(LONG),, $(ONLY_READ) -DSCANBENCH_FEW_TYPES),-O3)$(if $(LINEINFO), -lineinfo)
# By itself, nvcc leaves machine code as it is in all but the largest files. This takes no time, and
# unpacking is faster than reading.
COMPRESS_NVCC ?= -Xfatbin=-compress-all
WARNINGS  := -Wall -Wextra -Wno-missing-field-initializers -Wno-unknown-pragmas \
             $(if $(WERROR),-Werror)
comma     := ,
empty     :=
space     := $(empty) $(empty)

CPPFLAGS  += -I$(BUILD)/generated
COMPILE_C    = $(CC) $(CPPFLAGS) -std=gnu11 $(WARNINGS) -fopenmp $(CFLAGS)
COMPILE_CXX  = $(CXX) $(CPPFLAGS) -std=c++20 $(WARNINGS) -fopenmp $(CXXFLAGS)
# A kernel that calls a function of the host is wrong, yet only a warning by default.
COMPILE_CUDA = $(NVCC) $(CPPFLAGS) -std=c++20 $(GENCODE) $(COMPRESS_NVCC) $(NVCCFLAGS) \
               -DSCANBENCH_BACKEND=gpu $(if $(WERROR),-Werror=cross-execution-space-call) \
               -Xcompiler=$(subst $(space),$(comma),$(strip $(WARNINGS)))
# The emulator's functions, for files of the user's that are loaded.
EXPORTS     := -Wl,--dynamic-list=emulator/exported.list
# Loads and stores of emulated kernels call emulator/access_hooks.cpp. Sanitizers leave no room for that.
COUNTED     := $(if $(findstring -fsanitize,$(CXXFLAGS)),,$(COUNTING_FLAGS))
EMULATED_CUDA := -Iemulator -DSCANBENCH_BACKEND=emulated \
                 $(if $(and $(COUNTING_FLAGS),$(or $(COUNTED),$(UNSANITIZED))),-DEMULATOR_COUNTS)
# Emulated kernels gain less from more optimisation than it takes to compile them. With sanitizers they take
# twice as long to compile, above all for the three checks that are left out: an access through a wrong
# pointer is found without them.
QUICK_TO_COMPILE := -Og -fPIC $(if $(findstring -fsanitize,$(CXXFLAGS)),\
                    -fno-sanitize=null -fno-sanitize=object-size -fno-sanitize=pointer-overflow)
DEPENDENCIES  = -MMD -MP -MF $(@:.o=.d)

KERNELS     := $(wildcard kernels/*.cu kernels/*/*.cu)
# A kernel file that calls a device library has no emulated counterpart.
DEVICE_ONLY := $(shell grep -lE '^.include ["<](cub|thrust)[/_]' $(KERNELS)) \
               $(shell sed -n 's/^ENGINE([A-Z]*, *\([a-z0-9_]*\), *DEVICE)/kernels\/devices\/engine_\1.cu/p' \
               bench/engines.def)
C_SOURCES   := scanbench.c $(wildcard bench/*.c bench/*/*.c cpu/*.c timing/*.c library/*.c) $(EXTRA_C)
CU_SOURCES  := $(wildcard bench/device/*.cu library/*.cu) $(KERNELS) $(EXTRA_CU)
LIBRARIES   := $(wildcard cpu/*.cpp)
include scripts/first.mk

OBJECTS := $(LIBRARIES:%.cpp=$(BUILD)/%.o) $(C_SOURCES:%.c=$(BUILD)/%.o) \
           $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard emulator/*.cpp)) \
           $(patsubst %.cu,$(BUILD)/emulated/%.o,$(filter-out $(DEVICE_ONLY),$(CU_SOURCES)))
ifneq ($(NVCC),)
# Where GPU code never runs, files are compiled together, because the headers of CUB and Thrust take ten
# seconds each time and ours one or two: those that call one of these libraries, and those of rooms whose
# files share no names.
calls_of    = $(foreach f,$(filter-out %_deterministic.cu,$(DEVICE_ONLY)),$(if $(findstring $(1),$f),$f))
CALLED     := $(if $(NEVER_RUNS),cub thrust)
ROOMS      := $(if $(NEVER_RUNS),bench/device kernels/devices kernels/sort)
together    = $(or $(wildcard $(1)/*.cu),$(call calls_of,$(1)))
TOGETHER   := $(patsubst %,$(BUILD)/gpu/together/%.o,$(CALLED) $(ROOMS))
OBJECTS    += $(patsubst %.cu,$(BUILD)/gpu/%.o,$(wildcard timing/*.cu) \
              $(filter-out $(foreach g,$(CALLED) $(ROOMS),$(call together,$g)),$(CU_SOURCES))) $(TOGETHER)
$(foreach g,$(CALLED) $(ROOMS),$(eval $(BUILD)/gpu/together/$g.o: $(call together,$g)))
endif

# The device libraries of a checkout; only the files that call them are compiled with it.
CCCL_OBJECTS := $(patsubst %.cu,$(BUILD)/gpu/%.o,$(filter $(DEVICE_ONLY),$(CU_SOURCES))) \
                $(CALLED:%=$(BUILD)/gpu/together/%.o)
ifneq ($(CCCL),)
$(if $(wildcard $(CCCL)/cub/cub/version.cuh),,$(error CCCL=$(CCCL): it has no cub/cub/version.cuh; \
    name a checkout of https://github.com/NVIDIA/cccl))
CCCL_FLAGS := $(addprefix -I$(CCCL)/,cub thrust libcudacxx/include)
endif
$(CCCL_OBJECTS): $(BUILD)/flags/CCCL
$(CCCL_OBJECTS): private NVCC_PART_FLAGS += $(CCCL_FLAGS)

# Optional parts of a build. Only files that mention SCANBENCH_PART are compiled with
# PART_FLAGS, and recompiled when those change.
PARTS       := CUDA TABLE MPI TBB HIGHWAY THRUST
CUDA_FLAGS  := $(if $(NVCC),-DSCANBENCH_CUDA)
TABLE_FLAGS := $(if $(TABLE),-DSCANBENCH_TABLE='"$(TABLE)"' -I.)$(if $(FIRST), -DSCANBENCH_FIRST)
ifneq ($(MPI),)
MPICC       ?= mpicc
MPI_COMMAND := $(or $(shell $(MPICC) -show 2>/dev/null),$(error MPI=$(MPI): no $(MPICC); \
               make deps MPI=1 installs Open MPI))
MPI_FLAGS   := -DSCANBENCH_MPI $(filter -I% -D%,$(MPI_COMMAND))
MPI_LIBS    := $(filter -L% -l% -Wl% -pthread,$(MPI_COMMAND))
endif
mention      = $(patsubst %,$(BUILD)/%.o,$(basename $(shell grep -lE '$(1)' $(C_SOURCES) $(LIBRARIES))))
LDLIBS      += $(MPI_LIBS) $(TBB_LIBS) $(HIGHWAY_LIBS) -fopenmp -ljansson -lm -ldl -lpthread -lrt \
               $(if $(NVCC),$(CUDA_LIBS))

# REUSE=dir: takes the objects that are the same in this build from the build in that folder,
# which must have the same flags.
SPECIAL := $(call mention,SCANBENCH_(CUDA|TABLE|MPI)|"version.h") $(EXTRA_C:%.c=$(BUILD)/%.o) \
           $(EXTRA_CU:%.cu=$(BUILD)/emulated/%.o) $(filter $(BUILD)/gpu/%,$(OBJECTS))
REUSABLE := $(filter-out $(SPECIAL),$(OBJECTS))
ifneq ($(REUSE),)
OBJECTS := $(filter $(SPECIAL),$(OBJECTS)) $(REUSABLE:$(BUILD)/%=$(REUSE)/%)
endif

# UNSANITIZED=dir: a build with sanitizers takes emulated kernels and calls of libraries from the build in
# that folder, which has none. They are compiled with -fPIC, because tests share them in a library.
LIBRARY_CALLS := $(addprefix $(BUILD)/cpu/,std_par.o tbb.o thrust_omp.o)
UNSANITIZABLE := $(filter $(LIBRARY_CALLS) $(BUILD)/emulated/kernels/%,$(OBJECTS))
ifneq ($(UNSANITIZED),)
OBJECTS := $(filter-out $(UNSANITIZABLE),$(OBJECTS)) $(UNSANITIZABLE:$(BUILD)/%=$(UNSANITIZED)/%)
endif

# A command is printed as one short line, unless V=1, make -n, or a failure asks for all of it.
GIVEN     := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
V         := $(or $(V),$(if $(findstring n,$(GIVEN)),1))
QUIET     := $(or $(QUIET),$(if $(findstring s,$(GIVEN)),1))
ifeq ($(V),)
STARTED   := $(shell date +%s; rm -f $(BUILD)/steps)
TO_BUILD  := $(words $(filter-out $(wildcard $(OBJECTS)),$(OBJECTS)))
step       = @sh scripts/step.sh $(BUILD)/steps $(TO_BUILD) $(1) $(2)
link       = @sh scripts/step.sh $(BUILD)/steps 0 LINK $(1)
built      = @sh scripts/built.sh $@ $(STARTED) '$(1)$(if $(FIRST),; `make NVCC=` adds the other algorithms)'
export QUIET
endif
HOW       := $(if $(NVCC),with CUDA ($(NVCC_VERSION))$(if $(ONLY_READ),$(comma) whose code was only checked, for $(if $(strip $(ARCHS)),$(ARCHS:%=sm_%) and )PTX of compute_$(NEWEST)),without CUDA: \
               GPU algorithms run in the emulator)

all: $(PROGRAM)

$(PROGRAM): $(OBJECTS) $(BUILD)/flags/LINK
	$(call link,$@) $(CXX) $(LDFLAGS) $(PROGRAM_LDFLAGS) $(CXXFLAGS) $(EXPORTS) -o $@ $(OBJECTS) $(LDLIBS)
	$(call built,$(HOW))

$(BUILD)/%.o: %.c $(BUILD)/flags/C | $(BUILD)/generated/version.h
	@mkdir -p $(@D)
	$(call step,CC,$<) $(COMPILE_C) $(PART_FLAGS) $(DEPENDENCIES) -c -o $@ $<

$(BUILD)/cpu/%.o: cpu/%.cpp $(BUILD)/flags/CXX
	@mkdir -p $(@D)
	$(call step,CXX,$<) $(COMPILE_CXX) $(LIBRARY_CXXFLAGS) -I. $(PART_FLAGS) $(DEPENDENCIES) -c -o $@ $<

$(BUILD)/%.o: %.cpp $(BUILD)/flags/CXX
	@mkdir -p $(@D)
	$(call step,CXX,$<) $(COMPILE_CXX) $(EMULATED_CUDA) $(PART_FLAGS) $(DEPENDENCIES) -c -o $@ $<

$(BUILD)/emulated/%.o: %.cu $(BUILD)/flags/EMULATED
	@mkdir -p $(@D)
	$(call step,CXX,$<) $(COMPILE_CXX) $(EMULATED_CUDA) $(COUNTED) $(QUICK_TO_COMPILE) $(DEPENDENCIES) -x c++ -c -o $@ $<

$(BUILD)/gpu/%.o: %.cu $(BUILD)/flags/NVCC
	@mkdir -p $(@D)
	$(call step,NVCC,$<) $(COMPILE_CUDA) $(NVCC_PART_FLAGS) $(DEPENDENCIES) -c -o $@ $<

$(TOGETHER): $(BUILD)/gpu/together/%.o: $(BUILD)/flags/NVCC
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(call together,$*) >$(@:.o=.cu)
	$(call step,NVCC,$(@:.o=.cu)) $(COMPILE_CUDA) -I. $(NVCC_PART_FLAGS) $(DEPENDENCIES) -c -o $@ $(@:.o=.cu)

# CUPTI is in the toolkit, and is looked for when it is needed.
$(BUILD)/gpu/timing/gpu_profiler.o: private NVCC_PART_FLAGS += \
    -DSCANBENCH_TOOLKIT='"$(patsubst %/bin/nvcc,%,$(firstword $(NVCC)))"'

# Its parts are put into the program.
$(BUILD)/bench/rows/trace_page.o: $(wildcard report/trace/*)

$(BUILD)/emulator/%.o: private PART_FLAGS += $(EMULATOR_CXXFLAGS)
# Accesses are told apart by the calls that lead to them, from the start of the thread on.
$(BUILD)/emulator/plain_cuda.o: private PART_FLAGS += -fno-omit-frame-pointer
# The harness's own kernels are not counted.
$(BUILD)/emulated/bench/%.o: private COUNTED :=
$(BUILD)/emulated/library/%.o: private COUNTED :=
# What is measured is in cpu/. Of the rest, some takes ten times as long to compile with -O3, and
# runs no faster.
$(BUILD)/bench/%.o: private CFLAGS := $(CFLAGS:-O3=-O2)
# Whole libraries as templates, which are not ours to fix: Thrust passes an execution policy by a null
# reference. std.cpp has our part of the first two files checked.
$(addprefix $(BUILD)/cpu/,std_par.o thrust_omp.o): private PART_FLAGS += -fno-sanitize=address
$(LIBRARY_CALLS): private PART_FLAGS += -fno-sanitize=undefined -fPIC

define part
$(call mention,SCANBENCH_$(1)): $(BUILD)/flags/$(1)
$(call mention,SCANBENCH_$(1)): private PART_FLAGS += $$($(1)_FLAGS)
endef
$(foreach p,$(PARTS),$(eval $(call part,$(p))))

# A build of version 0.1.0 has a file where the stamps go.
$(if $(wildcard $(BUILD)/flags/.),,$(if $(wildcard $(BUILD)/flags),$(shell rm -f $(BUILD)/flags)))

include scripts/library.mk

# Stamps: each changes when its flags do, which recompiles the files that depend on it.
C_FLAGS    = $(COMPILE_C)
CXX_FLAGS  = $(COMPILE_CXX) $(COUNTED)
EMULATED_FLAGS = $(COMPILE_CXX) $(EMULATED_CUDA) $(COUNTED) $(QUICK_TO_COMPILE)
NVCC_FLAGS = $(COMPILE_CUDA)
LINK_FLAGS = $(CXX) $(LDFLAGS) $(PROGRAM_LDFLAGS) $(CXXFLAGS) $(EXPORTS) $(OBJECTS) $(LDLIBS)
LIBRARY_FLAGS = $(VERSION) $(LDFLAGS) $(LIBRARY_OBJECTS) $(LIBRARY_NEEDS)
define stamp
$(BUILD)/flags/$(1): $(if $(findstring |$(strip $($(1)_FLAGS))|,|$(strip $(file <$(BUILD)/flags/$(1)))|),,FORCE)
	@mkdir -p $$(@D)
	@echo '$$(subst ','\'',$$(strip $$($(1)_FLAGS)))' >$$@
endef
$(foreach s,C CXX EMULATED NVCC LINK LIBRARY CCCL $(PARTS),$(eval $(call stamp,$(s))))

# The facts about the build in --version and in each row; rewritten only when they change.
$(BUILD)/generated/version.h: FORCE
	@mkdir -p $(@D)
	@sh scripts/version.sh '$(VERSION)' '$(CC)' '$(if $(NVCC),$(NVCC_VERSION))' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

-include $(OBJECTS:.o=.d)

include scripts/targets.mk

.PHONY: all FORCE
.DELETE_ON_ERROR:
