# What there is beside the build: first run, tests, checks, cleaning up.
#
# The tests run the build of `make` itself, with CUDA where there is nvcc, and two
# more, without CUDA, so that they are the same everywhere:
#   build/asan    the sanitizers watch: unit tests, and every kernel at many sizes
#   build/tsan    the thread sanitizer watches the CPU's algorithms: `make tsan`, by itself
#   build/broken  with tests/broken.def: algorithms that are wrong on purpose

JOBS       ?= $(shell nproc 2>/dev/null || echo 2)
# A -j that was given reaches sub-makes by itself.
PARALLEL    = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
SANITIZE   := -fsanitize=address,undefined -fno-sanitize-recover=all
ASAN_BUILD := BUILD=build/asan PROGRAM=build/asan/scanbench NVCC= \
              CFLAGS="-O1 -g $(SANITIZE)" CXXFLAGS="-O1 -g $(SANITIZE)"
# clang, whose OpenMP tells the thread sanitizer what waits for what; gcc's does not.
TSAN_BUILD := BUILD=build/tsan PROGRAM=build/tsan/scanbench NVCC= CC=clang CXX=clang++ \
              CFLAGS="-O1 -g -fsanitize=thread" CXXFLAGS="-O1 -g -fsanitize=thread"
BROKEN_BUILD := BUILD=build/broken PROGRAM=build/broken/scanbench NVCC= \
              EXTRA_TABLE=tests/broken.def EXTRA_C="$(wildcard tests/broken/*.c)" \
              EXTRA_CU="$(wildcard tests/broken/*.cu)"

help:
	@sed -n '/^# *make/,/^#$$/s/^# \{0,1\}//p' Makefile

deps:
	@sh scripts/install-deps.sh

run:
	@sh scripts/install-deps.sh run
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@sh scripts/run.sh

# SWEEP="--op=scan --device=cpu": flags for the sweep.
sweep: all
	@bash scripts/sweep.sh $(SWEEP)

block-sweep: all
	@sh scripts/block-sweep.sh $(SWEEP)

plots:
	@sh scripts/install-deps.sh plots
	@for folder in $(filter-out results/local/,$(wildcard results/*/)); do \
	    sh scripts/plot.sh $$folder || exit; \
	done

test:
	@sh scripts/install-deps.sh test
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@$(MAKE) --no-print-directory asan broken
	@UNIT_TESTS="$(PLAIN_TESTS) $(STUB_TESTS) $(CUDA_TESTS)" bash tests/run.sh

asan:
	@$(MAKE) --no-print-directory $(PARALLEL) $(ASAN_BUILD) all unit-tests

asan-program: # without the unit tests
	@$(MAKE) --no-print-directory $(PARALLEL) $(ASAN_BUILD) all

tsan:
	@$(MAKE) --no-print-directory $(PARALLEL) $(TSAN_BUILD) build/tsan/tests/cpu_test
	TSAN_OPTIONS=ignore_noninstrumented_modules=1 build/tsan/tests/cpu_test

broken:
	@$(MAKE) --no-print-directory $(PARALLEL) $(BROKEN_BUILD) all build/broken/tests/emulator_test

check:
	@sh scripts/install-deps.sh check
	@sh scripts/check.sh

format:
	clang-format -i $$(sh scripts/sources.sh)

clean:
	rm -rf build scanbench

.PHONY: help deps run sweep block-sweep plots test asan asan-program tsan broken check format clean unit-tests independent-clock

# ---- Unit tests: one program for each tests/NAME_test.c or .cpp ----

# These see a table of their own, tests/stub_algorithms.def, in place of
# algorithms.def; as NAME_test_cuda it has the GPU's half, as with nvcc.
STUB_TESTS  := options_test plan_test registry_test
CUDA_TESTS  := $(STUB_TESTS:=_cuda)
PLAIN_TESTS := $(filter-out $(STUB_TESTS),\
               $(basename $(notdir $(wildcard tests/*_test.c tests/*_test.cpp))))
TESTED      := $(filter-out $(BUILD)/scanbench.o,$(OBJECTS))
TESTED_STUB := $(filter-out $(BUILD)/bench/registry.o $(BUILD)/cpu/% \
               $(BUILD)/emulated/kernels/%,$(TESTED))
LINK_TEST    = $(CXX) $(LDFLAGS) $(CXXFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

unit-tests: $(addprefix $(BUILD)/tests/,$(PLAIN_TESTS) $(STUB_TESTS) $(CUDA_TESTS))

$(PLAIN_TESTS:%=$(BUILD)/tests/%): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(TESTED)
	$(LINK_TEST)

$(STUB_TESTS:%=$(BUILD)/tests/%): $(BUILD)/tests/%: $(BUILD)/tests/%.o \
    $(BUILD)/tests/stub_algorithms.o $(TESTED_STUB)
	$(LINK_TEST)

$(CUDA_TESTS:%=$(BUILD)/tests/%): $(BUILD)/tests/%_cuda: $(BUILD)/tests/%_cuda.o \
    $(BUILD)/tests/stub_algorithms_cuda.o $(TESTED_STUB)
	$(LINK_TEST)

$(BUILD)/tests/%_cuda.o: tests/%.c $(BUILD)/flags | $(BUILD)/generated/version.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -DSTUB_CUDA $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/emulator_test.o: private CPPFLAGS += -I.

# A clock of its own, to check scanbench's times on a GPU against:
# tests/independent_clock.sh ./scanbench build/tests/independent_clock
independent-clock: $(BUILD)/tests/independent_clock

$(BUILD)/tests/independent_clock: tests/independent_clock.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) -std=c++20 $(GENCODE) $(NVCCFLAGS) -o $@ $<

-include $(wildcard $(BUILD)/tests/*.d)
