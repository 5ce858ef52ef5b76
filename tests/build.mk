# SPDX-License-Identifier: BSD-2-Clause
# Everything that is checked. `make test` makes the programs below and the images of systems.mk. Then tests/run runs all tests and prints
# the results; its last line is `N passed, N failed`. It finds the tests by their names, so a new one needs no line here:
#
#   tests/unit/test_*.c    cmocka programs, host code, address and undefined-behaviour sanitizers
#   tests/tsan/test_*.c    programs under ThreadSanitizer, exit status
#   tests/fuzz/fuzz_*.c    libFuzzer targets, a short run over tests/fuzz/corpus/NAME and beyond (fuzz/build.mk)
#   tests/system/*.sh      whole runs; print `ok NAME` or `not ok NAME: why`
#   tests/check-*          clang-tidy, cppcheck, clang-format, the include graph, language and links of the documents
#
# A unit test or a fuzz target is one source, linked with three libraries, in this order:
#
#   libfixtures.a    tests/fixtures/*.c, what several tests use
#   libmkperf.a      the host's code (host/build.mk); for unit tests libmkperf.so
#   libhosted.a      code of the target that depends on no platform (HOSTED_SRC, which the build.mk of its folder adds to)
#
# Each library exists once for each set of flags, in $(B)/lib/asan (unit tests), fuzz and coverage (fuzz targets).

UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
TSAN_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/tsan/test_*.c))
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))

HOSTED_SRC ?=
FIXTURES_SRC := $(wildcard tests/fixtures/*.c)
FUZZ_FIXTURES_SRC := tests/fixtures/log_sink.c # without cmocka
TEST_INCLUDES := -I. -Itests -Itests/fixtures
$(foreach v,asan fuzz coverage plain,$(call host_objects,$(v),$(FIXTURES_SRC))): private HOST_CFLAGS += $(TEST_INCLUDES)
# The hook and the profiler PD are a part of the simulated machine.
$(call host_objects,asan,$(wildcard tests/fixtures/sim_*.c)): private HOST_CFLAGS += -Itests/unit/mock -Ikernel

# $(call test_libraries,VARIANT,FIXTURES). No name may be defined by two fixtures: a linker would take either.
define test_libraries
$(B)/lib/$(1)/libhosted.a: $(call host_objects,$(1),$(HOSTED_SRC))
	$$(into)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
$(B)/lib/$(1)/libfixtures.a: $(call host_objects,$(1),$(2))
	$$(into)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
	$$(Q)! nm $$@ | sed -n 's/.* [TDBR] /defined twice: /p' | sort | uniq -d | grep .
endef
$(eval $(call test_libraries,asan,$(FIXTURES_SRC)))
$(eval $(call test_libraries,fuzz,$(FUZZ_FIXTURES_SRC)))
$(eval $(call test_libraries,coverage,$(FUZZ_FIXTURES_SRC)))
test_libs = $(addprefix $(B)/lib/$(1)/,libfixtures.a $(if $(filter asan,$(1)),libmkperf.so,libmkperf.a) libhosted.a)

# gold links a test in half the time of the default linker. Some distributions have it in a package of its own.
FAST_LINK := $(if $(shell command -v ld.gold),-fuse-ld=gold)
# The host's code is linked once, not with each of the tests: half the time again. -O0: a fifth of a second less for each.
$(B)/lib/asan/libmkperf.so: $(call host_objects,asan,$(HOST_LIB_SRC))
	$(into)
	$(Q)$(HOST_CC) $(FAST_LINK) $(ASAN_FLAGS) -shared $^ $(HOST_LIBS) -o $@
$(B)/tests/unit/%: tests/unit/%.c $(call test_libs,asan)
	$(call say,unit,the unit tests)
	$(into)
	$(Q)$(HOST_CC) $(FAST_LINK) $(HOST_CFLAGS) $(ASAN_FLAGS) -O0 $(TEST_INCLUDES) -MMD -MP $< $(filter %.a %.so,$^) \
	    $(filter %.a,$^) -Wl,-rpath,'$$ORIGIN/../../lib/asan' -lcmocka $(HOST_LIBS) -o $@
$(B)/tests/tsan/%: tests/tsan/%.c $(PROTO_READY) | $(SETUP)
	$(into)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=thread -I. -MMD -MP $< $(filter %.a,$^) -lpthread $(if $(filter %.a,$^),$(HOST_LIBS)) -o $@
# What it does not include is not instrumented. The agent's lock is a mutex, which ThreadSanitizer sees all the same.
$(B)/tests/tsan/test_push_race: $(B)/lib/plain/libmkperf.a
$(B)/tests/tsan/test_push_race: private HOST_LIBS += -lmicrohttpd
# These include sources that need the kernel's or sDDF's interface, of which tests/unit/mock has as much as they need.
$(B)/tests/unit/test_sddf $(B)/tests/tsan/test_sddf_race $(B)/tests/tsan/test_hook_race $(B)/tests/unit/test_crc: \
    private HOST_CFLAGS += -Itests/unit/mock
include tests/fuzz/build.mk tests/systems.mk

# ---- tools of the tests ----

# For tests of connections: interrupts them, and sends what no mkperf sends.
$(B)/net-tool: tests/tool/net_tool.c tests/tool/net_proxy.c tests/tool/net_tool.h | $(SETUP)
	$(into)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(filter %.c,$^) -o $@

# For tests of cores that die: stops one of QEMU's.
$(B)/stop-core: tests/tool/stop_core.c | $(SETUP)
	$(into)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $< -o $@

# Many targets in one process, for the scale of mkperf agent.
$(B)/fleet: tests/tool/fleet.c $(call host_objects,plain,tests/fixtures/fake_target.c tests/fixtures/batch_columns.c) $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(TEST_INCLUDES) -MMD -MP $< $(filter %.o %.a,$^) $(HOST_LIBS) -lcmocka -o $@

# Makes a large recording, for tests of speed.
$(B)/many-samples: tests/tool/many_samples.c $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -MMD -MP $< $(filter %.a,$^) $(HOST_LIBS) -o $@

# mkperf with sanitizers, for inputs that must not crash it. badinput.sh runs it some 250 times: with their libraries linked statically it
# begins, and looks for leaks, in half the time. (clang links them so by itself.)
STATIC_SANITIZERS := $(if $(findstring clang,$(HOST_CC)),,-static-libasan -static-libubsan)
$(B)/tests/mkperf-asan: $(B)/obj/asan/host/main.o $(B)/lib/asan/libmkperf.a
	$(into)
	$(Q)$(HOST_CC) $(ASAN_FLAGS) $(STATIC_SANITIZERS) $^ $(HOST_LIBS) -o $@

# The images of tests/system/riscv.sh. Not at the same time as those of AArch64: both make the sources of messages.
.PHONY: riscv64-images
riscv64-images: host target
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory -s ARCH=riscv64 $(call bootable,$(B)/riscv64/demo $(addprefix $(B)/riscv64/tests/pd/,late unframed unframed_llvm))

TEST_TOOLS := $(addprefix $(B)/,net-tool stop-core many-samples tests/mkperf-asan)
test: riscv64-images host target $(TEST_TOOLS) $(TEST_IMAGES) $(UNIT_TESTS) $(TSAN_TESTS) $(FUZZERS)
	$(Q)B=$(B) tests/run

# While something is developed: the unit tests, the checks of text, and the demo's profile.
test-quick: host target $(UNIT_TESTS) $(call bootable,$(TEST_PD)/late)
	$(Q)B=$(B) QUICK=yes tests/run
