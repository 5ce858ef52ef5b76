# SPDX-License-Identifier: BSD-2-Clause
# Longer fuzzing, and what it reaches:
#
#   make fuzz HOURS=n              all targets in turn, n hours of one core (JOBS=j: of j cores), any decimal fraction
#   make fuzz-coverage             lines of each decoder that the corpora reach; fails below 95 %
#   CORPUS=dir                     where the corpora and the counts of executions are kept and grow
#   TARGETS="fuzz_wire fuzz_elf"   these targets alone

HOURS ?= 1
JOBS ?= 1
CORPUS ?= $(B)/fuzz
TARGETS ?= $(notdir $(FUZZERS))

$(B)/tests/fuzz/%: tests/fuzz/%.c $(call test_libs,fuzz)
	$(call say,fuzzers,the fuzz targets)
	$(into)
	$(Q)clang $(HOST_CFLAGS) -O0 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(TEST_INCLUDES) \
	    -MMD -MP $< $(filter %.a,$^) $(filter %.a,$^) $(HOST_LIBS) -o $@

# The same programs without sanitizers, with counters of executed lines.
COVERAGE_FLAGS := -O1 -fprofile-instr-generate -fcoverage-mapping
COVERAGE := $(patsubst tests/fuzz/%.c,$(B)/tests/coverage/%,$(wildcard tests/fuzz/fuzz_*.c))
$(eval $(call host_variant,coverage,clang,$(COVERAGE_FLAGS),,$(READERS_SRC)))
$(B)/tests/coverage/%: tests/fuzz/%.c $(call test_libs,coverage)
	$(into)
	$(Q)clang $(HOST_CFLAGS) $(COVERAGE_FLAGS) -fsanitize=fuzzer $(TEST_INCLUDES) -MMD -MP $< $(filter %.a,$^) \
	    $(filter %.a,$^) $(HOST_LIBS) -o $@

# The profiler PD's sources are a part of this program.
$(B)/tests/fuzz/fuzz_profiler $(B)/tests/coverage/fuzz_profiler: private HOST_CFLAGS += \
    -Itests/unit/mock -Ikernel -Wno-unused-function

.PHONY: fuzz fuzz-coverage
fuzz: $(addprefix $(B)/tests/fuzz/,$(TARGETS))
	$(Q)B=$(B) JOBS=$(JOBS) tests/fuzz/run $(HOURS) $(CORPUS) $(TARGETS)
fuzz-coverage: $(COVERAGE)
	$(Q)B=$(B) tests/fuzz/coverage $(CORPUS)
