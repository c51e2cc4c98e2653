# The library: `make library`. Its objects are those of the program: the algorithms of
# library/algorithms.def, the rule that chooses among them, and library/ itself.

SOVERSION := $(firstword $(subst ., ,$(VERSION)))
OF_LIBRARY = $(shell sed -n 's/^ALGORITHM($(1), *\([a-z0-9_]*\))/\1/p' library/algorithms.def)

LIBRARY_C  := $(patsubst %,library/%.c,interface status task solve reserve handle cpu) bench/choice.c bench/cpu_features.c bench/base/thread_pool.c cpu/threads.c \
              cpu/sort_buckets.c cpu/sort_words.c $(patsubst %,cpu/%_kernels.c,scan compact sort recurrence) \
              $(patsubst %,cpu/%.c,$(call OF_LIBRARY,CPU))
LIBRARY_CU := library/gpu.cu kernels/segment_heads.cu kernels/sort/onesweep_pairs.cu \
              $(wildcard $(patsubst %,kernels/*/%.cu,$(call OF_LIBRARY,GPU)))

LIBRARY_OBJECTS := $(LIBRARY_C:%.c=$(BUILD)/%.o) $(if $(NVCC),$(LIBRARY_CU:%.cu=$(BUILD)/gpu/%.o))
# Tests that share one library of all objects see all of it.
$(LIBRARY_OBJECTS): private PART_FLAGS += -fPIC $(if $(SHARED_BY_TESTS),,-fvisibility=hidden)
$(LIBRARY_OBJECTS): private NVCC_PART_FLAGS += -Xcompiler=-fPIC,-fvisibility=hidden

LIBRARY_A  := $(BUILD)/libscanbench.a
LIBRARY_SO := $(BUILD)/libscanbench.so.$(VERSION)
# Threads outlive the call that started them, so the code they run must never be unmapped:
# neither the shared library nor a plugin with the static one inside, nor what either was linked with.
NEVER_UNLOADED := -Wl,-z,nodelete
# What a program needs that links the static library; the shared one has it inside.
LIBRARY_NEEDS := -lpthread $(if $(NVCC),$(CUDA_LIBS) -lstdc++ -ldl -lrt) $(NEVER_UNLOADED)

library: $(LIBRARY_A) $(LIBRARY_SO)
	$(if $(NVCC),,@echo "the library was built without CUDA: it has the CPU only")

# One object, in which everything but the interface is local: programs may use the same names.
$(BUILD)/libscanbench.o: $(LIBRARY_OBJECTS) $(BUILD)/flags/LIBRARY
	$(call link,$@) $(LD) -r --force-group-allocation -o $@ $(LIBRARY_OBJECTS)
	@objcopy --wildcard --keep-global-symbol='scanbench_*' $@

$(LIBRARY_A): $(BUILD)/libscanbench.o
	@rm -f $@
	$(call link,$@) $(AR) rcs $@ $<

$(LIBRARY_SO): $(BUILD)/libscanbench.o library/scanbench.map
	$(call link,$@) $(if $(NVCC),$(CXX) -static-libstdc++ -static-libgcc,$(CC)) $(LDFLAGS) -shared \
	    -Wl,-soname,libscanbench.so.$(SOVERSION) -Wl,--version-script=library/scanbench.map \
	    -Wl,-z,defs $(NEVER_UNLOADED) -Wl,--exclude-libs,ALL -o $@ $< -lpthread \
	    $(if $(NVCC),$(CUDA_LIBS) -ldl -lrt)
	@ln -sf $(@F) $(BUILD)/libscanbench.so.$(SOVERSION)
	@ln -sf $(@F) $(BUILD)/libscanbench.so

# What pkg-config and CMake are told.
$(BUILD)/generated/%: library/%.in $(BUILD)/flags/LIBRARY
	@mkdir -p $(@D)
	@sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@SOVERSION@|$(SOVERSION)|g' \
	    -e 's|@NEEDS@|$(strip $(LIBRARY_NEEDS))|g' $< >$@

LIBRARY_FILES := $(addprefix $(BUILD)/generated/,scanbench.pc scanbench-config.cmake \
                 scanbench-config-version.cmake)

install-library: library $(LIBRARY_FILES)
	@install -d $(call each,include lib/pkgconfig lib/cmake/scanbench)
	install -m 644 library/scanbench.h $(call installed,include/scanbench.h)
	install -m 644 $(LIBRARY_A) $(call installed,lib/libscanbench.a)
	install -m 755 $(LIBRARY_SO) $(call installed,lib/$(notdir $(LIBRARY_SO)))
	ln -sf $(notdir $(LIBRARY_SO)) $(call installed,lib/libscanbench.so.$(SOVERSION))
	ln -sf $(notdir $(LIBRARY_SO)) $(call installed,lib/libscanbench.so)
	install -m 644 $(BUILD)/generated/scanbench.pc $(call installed,lib/pkgconfig/)
	install -m 644 $(BUILD)/generated/scanbench-config.cmake \
	    $(BUILD)/generated/scanbench-config-version.cmake $(call installed,lib/cmake/scanbench/)

INSTALLED_LIBRARY := include/scanbench.h lib/libscanbench.a lib/libscanbench.so \
                     lib/libscanbench.so.$(SOVERSION) lib/libscanbench.so.$(VERSION) \
                     lib/pkgconfig/scanbench.pc \
                     lib/cmake/scanbench/scanbench-config.cmake \
                     lib/cmake/scanbench/scanbench-config-version.cmake

.PHONY: library install-library
