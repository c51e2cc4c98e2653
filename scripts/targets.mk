# Targets other than the build: first run, tests, checks, cleaning up.
#
# The tests use the build of `make` itself, with CUDA if there is nvcc, and three builds
# without CUDA, which are the same everywhere:
#   build/asan    with sanitizers: unit tests, and every kernel at many sizes
#   build/broken  with tests/broken/broken.def: algorithms that are wrong on purpose,
#                 together with the objects of the first build
#   build/mpi     with MPI, where that is installed, and with the same objects
# Separately, `make tsan` runs the CPU algorithms under the thread sanitizer in build/tsan.

JOBS       ?= $(shell nproc 2>/dev/null || echo 2)
# What builds without nvcc share, except those by clang: libraries are looked for once.
WITHOUT_NVCC := NVCC= FOUND=build/toolchain-without-nvcc.mk
# A -j on the command line reaches sub-makes anyway.
PARALLEL    = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
# What compiles by itself uses all processors, too.
ifeq ($(MAKELEVEL)$(filter-out all install install-library library deb,$(MAKECMDGOALS)),0)
MAKEFLAGS  := $(MAKEFLAGS) $(PARALLEL)
endif
SANITIZE   := -fsanitize=address,undefined -fno-sanitize-recover=all
# The sanitizers only report line numbers, so -g1 is enough. Templates of libraries, which are
# not ours to check, take longest to compile. The emulator is most of every test, so its checks are in
# place; in the rest of C++ a check is a call, which takes a quarter less time to compile. The program is
# started hundreds of times, and half of a start was moving it to its address.
CALLED     := --param=asan-instrumentation-with-call-threshold=0
IN_PLACE   := --param=asan-instrumentation-with-call-threshold=7000
# Emulated kernels run three times as long with sanitizers, and the emulator itself finds an access outside
# of an array, so only `make test-long` (LONG) has them there.
ASAN_BUILD := BUILD=build/asan PROGRAM=build/asan/scanbench $(WITHOUT_NVCC) LIBRARY_CXXFLAGS=-O0 \
              UNSANITIZED=$(if $(LONG),,build) \
              EMULATOR_CXXFLAGS="-O2 $(IN_PLACE)" SHARED_BY_TESTS=build/asan/tests/libtested.so \
              PROGRAM_LDFLAGS=-no-pie CFLAGS="-Og -g1 -fPIC $(SANITIZE)" \
              CXXFLAGS="-Og -g1 -fPIC $(SANITIZE) $(CALLED)"
# clang, because its OpenMP tells the thread sanitizer which threads wait for which; gcc's does
# not. Its sanitizer has functions that emulator/sanitizer.cpp defines as well: these come first.
TSAN_BUILD := BUILD=build/tsan PROGRAM=build/tsan/scanbench NVCC= CC=clang CXX=clang++ LDFLAGS=-Wl,-z,muldefs \
              CFLAGS="-O1 -g -fsanitize=thread" CXXFLAGS="-O1 -g -fsanitize=thread"
FUZZ_BUILD := BUILD=build/fuzz PROGRAM=build/fuzz/scanbench NVCC= CC=clang CXX=clang++ \
              CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined" \
              CXXFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined"
BROKEN_BUILD := BUILD=build/broken PROGRAM=build/broken/scanbench $(WITHOUT_NVCC) REUSE=build \
              TABLE=tests/broken/broken.def EXTRA_C="$(wildcard tests/broken/*.c)" \
              EXTRA_CU="$(wildcard tests/broken/*.cu)"
MPI_BUILD := BUILD=build/mpi PROGRAM=build/mpi/scanbench $(WITHOUT_NVCC) REUSE=build MPI=1

help:
	@sed -n '/^#   make/,/^#$$/s/^# \{0,1\}//p' Makefile

deps:
	@sh scripts/install-deps.sh $(if $(MPI),build run plots test check mpi)

run:
	@sh scripts/install-deps.sh run
	@$(MAKE) --no-print-directory $(PARALLEL) FOR=run all
	@sh scripts/run.sh

# SWEEP="--op=scan --device=cpu": flags for the sweep.
sweep: all
	@bash scripts/sweep.sh $(SWEEP)

block-sweep: all
	@sh scripts/block-sweep.sh $(SWEEP)

# Of a machine whose README shows pictures, only those.
plots:
	@sh scripts/install-deps.sh plots
	@for folder in $(filter-out results/local/,$(wildcard results/*/)); do \
	    only=$$({ cat $${folder}README.md; grep -h $${folder}plots README.md docs/*.md; } 2>/dev/null | \
	        sed -n 's/.*plots\/\([a-z0-9.-]*\)\.svg.*/\1/p' | sort -u | paste -sd,); \
	    sh scripts/plot.sh --only="$$only" $$folder || exit; \
	done

report:
	@sh scripts/install-deps.sh report
	@sh scripts/report.sh --output=results/report.html \
	    $(filter-out results/local/,$(wildcard results/*/))

# The transcripts of the pages, and docs/pictures: of the report page, of a table in a terminal, and
# figures of algorithms.
pictures: all
	@sh scripts/install-deps.sh pictures
	@sh scripts/pictures.sh
	@sh scripts/figures.sh

# What a test leaves to test-long, it does if LONG is set.
test-long: export LONG := 1
test test-long:
	@sh scripts/install-deps.sh test
	@$(MAKE) --no-print-directory tested
	@UNIT_TESTS="$(PLAIN_TESTS) $(STUB_TESTS) $(CUDA_TESTS)" bash tests/run.sh

# All programs that the tests run. Their packages are those of the job `tested`.
tested:
	@echo "building the program and what tests it; the first time this takes minutes"
	@$(if $(LONG),,$(MAKE) --no-print-directory $(PARALLEL) QUIET=1 FOR=test unsanitized)
	@$(MAKE) --no-print-directory $(PARALLEL) QUIET=1 FOR=test all asan
	@$(MAKE) --no-print-directory QUIET=1 broken
	@$(MAKE) --no-print-directory QUIET=1 mpi

# The programs that open the CSV: LibreOffice, pandas and R. They take longer to install than
# to run.
test-notebook: all
	@sh scripts/install-deps.sh test notebook
	@bats tests/commands/notebook.bats

asan:
	@$(if $(LONG),,$(MAKE) --no-print-directory $(PARALLEL) unsanitized)
	@$(MAKE) --no-print-directory $(PARALLEL) $(ASAN_BUILD) all unit-tests

asan-program: # without the unit tests
	@$(if $(LONG),,$(MAKE) --no-print-directory $(PARALLEL) unsanitized)
	@$(MAKE) --no-print-directory $(PARALLEL) $(ASAN_BUILD) all

tsan:
	@$(MAKE) --no-print-directory $(PARALLEL) $(TSAN_BUILD) build/tsan/tests/cpu_test
	TSAN_OPTIONS=ignore_noninstrumented_modules=1 build/tsan/tests/cpu_test

# FUZZ_SECONDS each for the command line and for CSV files. Inputs worth keeping go to
# build/fuzz/{options,csv}, failing ones to build/fuzz/*-failed-*.
FUZZ_SECONDS ?= 60
fuzz:
	@sh scripts/install-deps.sh check
	@$(MAKE) --no-print-directory $(PARALLEL) $(FUZZ_BUILD) build/fuzz/fuzz-csv build/fuzz/fuzz-options
	@for what in csv options; do \
	    mkdir -p build/fuzz/$$what && \
	    build/fuzz/fuzz-$$what -max_total_time=$(FUZZ_SECONDS) -timeout=10 -close_fd_mask=2 \
	        -artifact_prefix=build/fuzz/$$what-failed- build/fuzz/$$what tests/fuzz/corpus/$$what || exit; \
	done

reusable: $(REUSABLE)
unsanitized: $(UNSANITIZABLE)
	@:

# MUTANTS="scan-efficient lookback": only mutants whose names contain one of these.
mutants:
	@sh scripts/install-deps.sh test
	@python3 tests/mutants.py $(MUTANTS)

broken:
	@$(MAKE) --no-print-directory $(PARALLEL) reusable
	@$(MAKE) --no-print-directory $(PARALLEL) $(BROKEN_BUILD) all $(addprefix build/broken/tests/,\
	    $(EMULATOR_TESTS) sorts_test team_test stress_emulated)

# With MPI if it is installed; else tests of several processes are skipped.
mpi:
	@$(MAKE) --no-print-directory $(PARALLEL) reusable
	@! command -v mpicc >/dev/null || $(MAKE) --no-print-directory $(PARALLEL) $(MPI_BUILD) all

check:
	@sh scripts/install-deps.sh check
	@sh scripts/check.sh

format:
	clang-format -i $$(sh scripts/sources.sh)

clean:
	rm -rf build scanbench

.PHONY: help deps run sweep block-sweep plots report pictures test test-long tested test-notebook asan asan-program tsan fuzz reusable unsanitized mutants broken mpi check format clean unit-tests independent-clock stress library-test no-nvcc

# ---- Installing ----

PREFIX  ?= /usr/local
DESTDIR ?=
# Not every shell replaces the ~ of PREFIX=~/.local.
ifneq ($(filter ~/%,$(PREFIX)),)
override PREFIX := $(PREFIX:~/%=$(HOME)/%)
endif
INSTALLED = bin/scanbench share/man/man1/scanbench.1 \
            share/bash-completion/completions/scanbench \
            share/zsh/site-functions/_scanbench \
            share/fish/vendor_completions.d/scanbench.fish

# What a source of the user's is compiled with: --algo=./my_scan.cu.
OWN_HEADERS := $(addprefix emulator/,cuda_runtime.h device_functions.h plain_cuda.h ptx.h vector_types.h) \
               $(wildcard emulator/headers/*.h emulator/headers/*/*.h)
INSTALLED_HEADERS = include/scanbench_own.h $(OWN_HEADERS:%=share/scanbench/%)

# Both may have spaces, quotes and dollar signs (for make, $$), so the shell gets them quoted.
quoted    = '$(subst ','\'',$(1))'
installed = $(call quoted,$(DESTDIR)$(PREFIX)/$(1))
each      = $(foreach f,$(1),$(call installed,$f))

# The program generates its manual page and completions.
install: all install-library
	@install -d $(call each,$(sort $(dir $(INSTALLED) $(INSTALLED_HEADERS))))
	install -m 755 $(PROGRAM) $(call installed,bin/scanbench)
	install -m 644 own/scanbench_own.h $(call installed,include/scanbench_own.h)
	@$(foreach h,$(OWN_HEADERS),install -m 644 $h $(call installed,share/scanbench/$h) &&) true
	@$(call generated,man,man/man1/scanbench.1)
	@$(call generated,bash,bash-completion/completions/scanbench)
	@$(call generated,zsh,zsh/site-functions/_scanbench)
	@$(call generated,fish,fish/vendor_completions.d/scanbench.fish)
	@rm $(BUILD)/generated/page

generated = printf '%s\n' $(call installed,share/$(2)) && \
            ./$(PROGRAM) --generate=$(1) >$(BUILD)/generated/page && \
            install -m 644 $(BUILD)/generated/page $(call installed,share/$(2))

# Of the folders, those that are ours alone.
uninstall:
	rm -f $(call each,$(INSTALLED) $(INSTALLED_HEADERS) $(INSTALLED_LIBRARY))
	@rmdir $(call each,lib/cmake/scanbench share/scanbench/emulator/headers/cooperative_groups \
	    share/scanbench/emulator/headers share/scanbench/emulator share/scanbench) 2>/dev/null || true

# The files of this revision in git, as a tree that builds without git.
DIST := scanbench-$(VERSION)
dist:
	@mkdir -p build
	git archive --prefix=$(DIST)/ -o build/$(DIST).tar.gz HEAD
	@echo build/$(DIST).tar.gz

# A package for Debian and Ubuntu.
deb: all
	@sh scripts/install-deps.sh deb
	@sh scripts/deb.sh $(VERSION) $(PROGRAM) $(BUILD)

# The Python package. It contains no library.
wheel:
	@sh scripts/install-deps.sh wheel
	@sh scripts/wheel.sh $(BUILD)
	@echo $(BUILD)/scanbench-$(VERSION)-py3-none-any.whl

.PHONY: install uninstall dist deb wheel

# ---- Unit tests: one program for each tests/unit/NAME_test.c or .cpp ----

# These tests use the table of tests/unit/stub_algorithms.def instead of algorithms.def; as
# NAME_test_cuda it includes the GPU's half, as with nvcc.
STUB_TESTS  := options_test plan_test registry_test
CUDA_TESTS  := $(STUB_TESTS:=_cuda)
PLAIN_TESTS := $(filter-out $(STUB_TESTS),\
               $(basename $(notdir $(wildcard tests/unit/*_test.c tests/unit/*_test.cpp))))
EMULATOR_TESTS := $(filter emulator_%,$(PLAIN_TESTS))
TESTED      := $(filter-out $(BUILD)/scanbench.o $(REUSE)/scanbench.o,$(OBJECTS))
TESTED_STUB := $(filter-out $(BUILD)/bench/table.o $(foreach b,$(BUILD) $(UNSANITIZED),$b/cpu/% $b/library/% \
               $b/emulated/kernels/% $b/emulated/library/%),$(TESTED))
LINK_TESTED  = $(call link,$@) $(CXX) $(LDFLAGS) $(FIND_SHARED) $(CXXFLAGS) -o $@ $^ $(LDLIBS)
LINK_TEST    = $(LINK_TESTED) -lcmocka

# SHARED_BY_TESTS=file: links what is tested once, for all tests, with -fPIC in the flags. Every
# test of its own is 80 MB with the sanitizers.
ifneq ($(SHARED_BY_TESTS),)
$(SHARED_BY_TESTS): $(TESTED)
	@mkdir -p $(@D)
	$(call link,$@) $(CXX) $(LDFLAGS) $(CXXFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^ $(LDLIBS)

TESTED_HERE := $(TESTED)
TESTED      := $(SHARED_BY_TESTS)
FIND_SHARED := -Wl,-rpath,'$$ORIGIN'
endif

unit-tests: $(addprefix $(BUILD)/tests/,$(PLAIN_TESTS) $(STUB_TESTS) $(CUDA_TESTS))

# It calls what is hidden in every shared library.
LIBRARY_TEST := $(patsubst %,$(BUILD)/tests/unit/library_%.o,test misuse scans streams)
$(BUILD)/tests/library_test: $(LIBRARY_TEST) $(or $(TESTED_HERE),$(TESTED))
	$(LINK_TEST)

$(patsubst %,$(BUILD)/tests/%,$(filter-out library_test,$(PLAIN_TESTS))): \
    $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(TESTED)
	$(LINK_TEST)

$(BUILD)/tests/fuzz_test: $(BUILD)/tests/fuzz/one_input.o

$(BUILD)/fuzz-%: $(BUILD)/fuzzer-%.o $(BUILD)/tests/fuzz/one_input.o $(TESTED)
	$(call link,$@) $(CXX) $(CXXFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

$(BUILD)/fuzzer-csv.o: FUZZED := one_csv_file
$(BUILD)/fuzzer-options.o: FUZZED := one_command_line
$(BUILD)/fuzzer-%.o: tests/fuzz/fuzzer.c $(BUILD)/flags/C
	$(call step,CC,$<) $(COMPILE_C) -DFUZZED=$(FUZZED) -c -o $@ $<

$(STUB_TESTS:%=$(BUILD)/tests/%): $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o \
    $(BUILD)/tests/unit/stub_algorithms.o $(TESTED_STUB)
	$(LINK_TEST)

$(CUDA_TESTS:%=$(BUILD)/tests/%): $(BUILD)/tests/%_cuda: $(BUILD)/tests/unit/%_cuda.o \
    $(BUILD)/tests/unit/stub_algorithms_cuda.o $(TESTED_STUB)
	$(LINK_TEST)

$(BUILD)/tests/unit/%_cuda.o: tests/unit/%.c $(BUILD)/flags/C | $(BUILD)/generated/version.h
	@mkdir -p $(@D)
	$(call step,CC,$<) $(COMPILE_C) -DSTUB_CUDA $(DEPENDENCIES) -c -o $@ $<

# Templates, which take twice as long to compile with optimisation, and run no faster. With sanitizers the
# largest two take four times as long. What the sanitizers are to check is what these call.
$(LIBRARY_TEST): private PART_FLAGS += -O0
$(filter %_test.o %_scans.o,$(LIBRARY_TEST)): private PART_FLAGS += -fno-sanitize=all

# Their kernels call what observes them by themselves, and are told apart like others.
$(patsubst %,$(BUILD)/tests/unit/emulator_%_test.o,counts races trace): private PART_FLAGS += \
    -fno-omit-frame-pointer -fno-optimize-sibling-calls

# ---- Faults: scanbench in which any one call can be made to fail ----

# A literal parenthesis would end the make function.
WRAPPED    := $(shell sed -nE 's/^(FAULTY|FAULTY_WHERE|FIXED|CUDA).([A-Za-z0-9_]+),.*/-Wl,--wrap=\2/p' tests/commands/faults.cpp)

unit-tests: $(BUILD)/tests/faulty

# It is started hundreds of times as well.
$(BUILD)/tests/faulty: $(BUILD)/tests/commands/faults.o $(OBJECTS)
	$(call link,$@) $(CXX) $(LDFLAGS) $(CXXFLAGS) -no-pie $(WRAPPED) -o $@ $^ $(LDLIBS)

# ---- Stress: single-pass algorithms with fresh data, again and again ----

# On a GPU: make stress && build/tests/stress. The tests run the emulator's version.
stress: $(if $(NVCC),$(BUILD)/tests/stress,no-nvcc)
unit-tests: $(BUILD)/tests/stress_emulated

$(BUILD)/tests/stress: $(BUILD)/gpu/tests/gpu/stress.o
$(BUILD)/tests/stress_emulated: $(BUILD)/emulated/tests/gpu/stress.o
$(BUILD)/tests/stress $(BUILD)/tests/stress_emulated: $(BUILD)/tests/gpu/stress_team.o $(TESTED)
	@mkdir -p $(@D)
	$(LINK_TESTED)

# ---- The library on a GPU ----

# On a GPU: make library-test && build/tests/library. The tests run the emulator's version.
library-test: $(if $(NVCC),$(BUILD)/tests/library,no-nvcc)
unit-tests: $(if $(NVCC),,$(BUILD)/tests/library_emulated)

$(BUILD)/tests/library: tests/gpu/library.cu $(LIBRARY_A) $(BUILD)/flags/NVCC
	@mkdir -p $(@D)
	$(call step,NVCC,$<) $(NVCC) -std=c++20 $(GENCODE) $(NVCCFLAGS) -Ilibrary -o $@ $< $(LIBRARY_A)

$(BUILD)/emulated/tests/gpu/library.o: private QUICK_TO_COMPILE += -Ilibrary
$(BUILD)/tests/library_emulated: $(BUILD)/emulated/tests/gpu/library.o $(TESTED)
	@mkdir -p $(@D)
	$(LINK_TESTED)

# ---- Examples for a GPU, against the emulator ----

EXAMPLES := $(addprefix $(BUILD)/tests/example_,gpu graph)
unit-tests: $(if $(NVCC),,$(EXAMPLES))

$(EXAMPLES): $(BUILD)/tests/example_%: $(BUILD)/examples/%.o $(TESTED)
	@mkdir -p $(@D)
	$(LINK_TESTED)

$(BUILD)/examples/%.o: examples/%.c $(BUILD)/flags/CXX
	@mkdir -p $(@D)
	$(call step,CXX,$<) $(COMPILE_CXX) $(EMULATED_CUDA) -Ilibrary $(DEPENDENCIES) -x c++ -c -o $@ $<

# ---- An independent clock ----

# Checks scanbench's times on a GPU against an independent clock:
# tests/gpu/independent_clock.sh ./scanbench build/tests/independent_clock
independent-clock: $(if $(NVCC),$(BUILD)/tests/independent_clock,no-nvcc)

no-nvcc:
	@echo "this runs on a GPU, and needs nvcc" >&2; exit 1

$(BUILD)/tests/independent_clock: tests/gpu/independent_clock.cu $(BUILD)/flags/NVCC
	@mkdir -p $(@D)
	$(call step,NVCC,$<) $(NVCC) -std=c++20 $(GENCODE) $(NVCCFLAGS) -o $@ $<

-include $(wildcard $(addprefix $(BUILD)/,tests/*/*.d gpu/tests/gpu/*.d emulated/tests/gpu/*.d examples/*.d))
