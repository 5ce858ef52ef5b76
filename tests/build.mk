# SPDX-License-Identifier: BSD-2-Clause
# Everything that is checked. tests/run prints the results; its last line is `N passed, N failed`.
#
# This file makes the programs and the images that the tests need. The tests are found by their names:
#
#   tests/unit/test_*.c    cmocka programs, host code, address and undefined-behaviour sanitizers
#   tests/tsan/test_*.c    programs under ThreadSanitizer, exit status
#   tests/fuzz/fuzz_*.c    libFuzzer targets, a short run over tests/fuzz/corpus/NAME and beyond
#   tests/check-layers     the include graph of the sources
#   tests/check-docs       language and links of the documents, subjects of commits
#   tests/system/*.sh      whole runs; print `ok NAME` or `not ok NAME: why`

UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
TSAN_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/tsan/test_*.c))
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))

# Target sources that are tested on the host, because they depend on no platform. The build.mk of their folders adds them.
HOSTED_SRC ?=
# What several tests use, in tests/fixtures; the fuzz targets use those without cmocka.
FIXTURES_SRC := $(wildcard tests/fixtures/*.c)
FUZZ_FIXTURES_SRC := tests/fixtures/log_sink.c
TEST_INCLUDES := -I. -Itests -Itests/fixtures
$(foreach v,asan fuzz coverage plain,$(call host_objects,$(v),$(FIXTURES_SRC))): private HOST_CFLAGS += $(TEST_INCLUDES)

# Both libraries once for each set of flags: asan, fuzz, and coverage (tests/fuzz/build.mk).
$(foreach v,asan fuzz coverage,$(eval $(B)/lib/$(v)/libhosted.a: $(call host_objects,$(v),$(HOSTED_SRC))))
$(B)/lib/asan/libfixtures.a: $(call host_objects,asan,$(FIXTURES_SRC))
$(foreach v,fuzz coverage,$(eval $(B)/lib/$(v)/libfixtures.a: $(call host_objects,$(v),$(FUZZ_FIXTURES_SRC))))
$(foreach v,asan fuzz coverage,$(B)/lib/$(v)/libhosted.a $(B)/lib/$(v)/libfixtures.a):
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/tests/unit/%: tests/unit/%.c $(addprefix $(B)/lib/asan/,libfixtures.a libmkperf.a libhosted.a)
	$(call say,unit,the unit tests)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(ASAN_FLAGS) $(TEST_INCLUDES) -MMD -MP $< $(filter %.a,$^) \
	    $(filter %.a,$^) -lcmocka $(HOST_LIBS) -o $@
$(B)/tests/tsan/%: tests/tsan/%.c $(PROTO_READY) | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=thread -I. -MMD -MP $< -lpthread -o $@
# sDDF's interface, as far as its client needs it.
$(B)/tests/unit/test_sddf $(B)/tests/tsan/test_sddf_race: private HOST_CFLAGS += -Itests/unit/mock
$(B)/tests/tsan/test_hook_race: private HOST_CFLAGS += -Itests/unit/mock
$(B)/tests/unit/test_crc: private HOST_CFLAGS += -Itests/unit/mock
include tests/fuzz/build.mk

# ---- systems that only tests run ----
#
# Each is $(TEST_PD)/NAME/NAME.img, on the built-in platform, and the command that boots it is qemu-command in the
# same folder. A new system of mkperf and one program is a line below and tests/pd/NAME.system.in. The functions
# (pd, copies, system, image, program_system) are those of pd/rules.mk, in which each has a comment.
TEST_PD := $(T)/tests/pd
TEST_SYSTEMS :=

# $(call test_program,NAME,SOURCES): the system tests/pd/NAME.system.in with the program that SOURCES make.
test_program = $(call program_system,$(TEST_PD),$(1),$(2))$(eval TEST_SYSTEMS += $(1))

# A client that requires the key tests/pd/test.key: $(call with_test_key,ITS SOURCES) has that key in place of the build's.
$(B)/tests/key/key.c: tests/pd/test.key scripts/key-source
	$(Q)scripts/key-source $@ $<
with_test_key = $(patsubst $(B)/key/key.c,$(B)/tests/key/key.c,$(1))

QUIET_PDS := profiler client_net ticker # tests/pd/quiet.system.in

$(TARGET_OBJ)/tests/pd/unframed.o: private TARGET_CFLAGS += -fomit-frame-pointer
ifeq ($(MICROKIT_SDK),)
# Programs with known shares, call chains, events, budgets or faults, which the tests compare with what mkperf reports.
$(call test_program,accuracy,tests/pd/accuracy.c tests/pd/accuracy_work.S)
$(call test_program,exact,tests/pd/exact.c)
$(call test_program,callers,tests/pd/callers.c)
$(call test_program,called,tests/pd/callers.c)
$(call test_program,stopped,tests/pd/stopped.c)
$(call test_program,cores,tests/pd/cores.c demo/known_work.S)
$(call test_program,contend,tests/pd/contend.c)
$(call test_program,flight,tests/pd/flight.c)
$(call test_program,hostile,tests/pd/hostile.c)
$(call test_program,lockstep,tests/pd/lockstep.c tests/pd/lockstep_loop.S)
$(call test_program,wildfp,tests/pd/wildfp.c tests/pd/wildfp_spin.S)
$(call test_program,unframed,tests/pd/unframed.c)
$(call test_program,robin,tests/pd/robin.c)
$(call test_program,stack,tests/pd/stack.c)
$(call test_program,pair,tests/pd/pair.c)
$(call test_program,sched,tests/pd/sched.c)
$(call test_program,budget,tests/pd/budget.c)
$(call test_program,demand,tests/pd/demand.c)
$(call test_program,late,tests/pd/late.c)
$(call test_program,domains,tests/pd/domains.c pd/timer/generic_timer.c)
$(call test_program,path,tests/pd/path.c pd/timer/generic_timer.c)
$(call test_program,starve,tests/pd/starve.c pd/timer/generic_timer.c)
$(call test_program,rare,tests/pd/rare.c)
$(call test_program,deadline,tests/pd/late.c)
$(call test_program,reasons,tests/pd/reasons.c)
$(call test_program,steps,tests/pd/steps.c)
$(call test_program,deep,tests/pd/deep.c tests/pd/wildfp_spin.S pd/lib/own_stack.S)
$(TEST_PD)/deep/deep.elf: private PLATFORM_LDFLAGS += -Wl,-e,mkperf_own_stack
$(TEST_PD)/cores/qemu-command $(TEST_PD)/contend/qemu-command: private QEMU_SMP = 4

# $(call flow_system,NAME,QUEUES,VALUES): the pipeline of tests/pd/flow.c with these names and this description of its queues.
flow_system = $(call pd,$(TEST_PD)/$(1)/flow.elf,tests/pd/flow.c)\
    $(call copies,$(TEST_PD)/$(1),$(DEMO),profiler client)\
    $(call system,$(TEST_PD)/$(1)/$(1).system,tests/pd/flow.system.in,$(3))\
    $(call system,$(TEST_PD)/$(1)/$(1).queues,tests/pd/$(2).queues.in,$(3))\
    $(call image,$(TEST_PD)/$(1)/$(1).img,$(TEST_PD)/$(1)/$(1).system,$(TEST_PD)/$(1),profiler client flow)\
    $(eval $(TEST_PD)/$(1)/$(1).img: $(TEST_PD)/$(1)/$(1).queues)\
    $(eval $(TEST_PD)/$(1)/$(1).img: private STAMP_QUEUES = $(TEST_PD)/$(1)/$(1).queues)\
    $(eval TEST_SYSTEMS += $(1))
$(call flow_system,flow,flow,A=a2 B=b8 C=c4 D=d1 CPU=0)
$(call flow_system,flow_counted,flow_counted,A=a2 B=b8 C=c4 D=d1 CPU=0)
$(call flow_system,flow_slow,flow,A=a2 B=b80 C=c4 D=d1 CPU=1)
$(call flow_system,flow_before,flow,A=a2 B=b80 C=c4 D=d1 CPU=0)
$(call flow_system,flow_after,flow,A=a2 B=b40 C=c4 D=d1 CPU=0)
$(call flow_system,flow_evil,flow,A=a2 B=b8 C=c4 D=evil20 CPU=0)
$(TEST_PD)/flow_slow/qemu-command: private QEMU_SMP = 2

# A program without mkperf's PDs.
RACE := $(TEST_PD)/race
$(call pd,$(RACE)/race.elf,tests/pd/race.c)
$(call system,$(RACE)/race.system,tests/pd/race.system.in)
$(call image,$(RACE)/race.img,$(RACE)/race.system,$(RACE),race)
$(RACE)/qemu-command: private QEMU_SMP = 2
TEST_SYSTEMS += race

# $(call counted_system,NAME): a program of a known number of instructions, without mkperf's PDs. counted_more has one more.
counted_system = $(call pd,$(TEST_PD)/$(1)/counted.elf,tests/pd/$(1).c)\
    $(call system,$(TEST_PD)/$(1)/$(1).system,tests/pd/counted.system.in)\
    $(call image,$(TEST_PD)/$(1)/$(1).img,$(TEST_PD)/$(1)/$(1).system,$(TEST_PD)/$(1),counted)\
    $(eval TEST_SYSTEMS += $(1))
$(call counted_system,counted)
$(call counted_system,counted_more)

# A program in the place of the profiler PD.
EVIL := $(TEST_PD)/hostile_profiler
$(call pd,$(EVIL)/hostile_profiler.elf,tests/pd/hostile_profiler.c $(CLIENT_UARTS))
$(call system,$(EVIL)/hostile_profiler.system,tests/pd/hostile_profiler.system.in)
$(call image,$(EVIL)/hostile_profiler.img,$(EVIL)/hostile_profiler.system,$(EVIL),hostile_profiler)
TEST_SYSTEMS += hostile_profiler

# The demo with a timer and without the hook: no PD has the PMU's interrupt.
$(call system,$(TEST_PD)/nohook/nohook.system,demo/demo.system.in,PACER=pacer TIMER=1 CHILDREN=1 NOHOOK=1)
$(call copies,$(TEST_PD)/nohook,$(DEMO),$(DEMO_PDS))
$(call image,$(TEST_PD)/nohook/nohook.img,$(TEST_PD)/nohook/nohook.system,$(TEST_PD)/nohook,$(DEMO_PDS))
TEST_SYSTEMS += nohook

# The demo on two cores with a timer, whose samples are of core 0.
$(call system,$(TEST_PD)/stockcores/stockcores.system,demo/demo.system.in,PACER=pacer TIMER=1 CHILDREN=1 CORES=1)
$(call copies,$(TEST_PD)/stockcores,$(DEMO),$(DEMO_PDS))
$(call image,$(TEST_PD)/stockcores/stockcores.img,$(TEST_PD)/stockcores/stockcores.system,$(TEST_PD)/stockcores,$(DEMO_PDS))
$(TEST_PD)/stockcores/qemu-command: private QEMU_SMP = 2
TEST_SYSTEMS += stockcores

# The demo over a serial line and over the network, with the key.
$(call pd,$(TEST_PD)/demokey/client.elf,$(call with_test_key,$(CLIENT_SRC)))
$(call copies,$(TEST_PD)/demokey,$(DEMO),$(filter-out client,$(DEMO_PDS)))
$(call image,$(TEST_PD)/demokey/demokey.img,$(DEMO)/demo.system,$(TEST_PD)/demokey,$(DEMO_PDS))
$(call pd,$(TEST_PD)/netkey/client_net.elf,$(call with_test_key,$(CLIENT_NET_SRC)))
$(call copies,$(TEST_PD)/netkey,$(DEMO),$(filter-out client_net,$(NET_PDS)))
$(call image,$(TEST_PD)/netkey/netkey.img,$(NET)/net.system,$(TEST_PD)/netkey,$(NET_PDS))
$(call network_machine,$(TEST_PD)/netkey)
TEST_SYSTEMS += demokey netkey

# A network client without a workload; one that dials and has the key.
$(call system,$(TEST_PD)/quiet/quiet.system,tests/pd/quiet.system.in)
$(call copies,$(TEST_PD)/quiet,$(DEMO),$(QUIET_PDS))
$(call image,$(TEST_PD)/quiet/quiet.img,$(TEST_PD)/quiet/quiet.system,$(TEST_PD)/quiet,$(QUIET_PDS))
$(call network_machine,$(TEST_PD)/quiet)
$(TARGET_OBJ)/tests/pd/net_dial.o: TARGET_CFLAGS += $(NET_CFLAGS) \
    $(CLOCK_CFLAGS)
$(TARGET_OBJ)/tests/pd/net_dial.o: $(B)/src/lwip.stamp
$(call pd,$(TEST_PD)/dial/client_net.elf,\
    $(call with_test_key,$(patsubst pd/net/tcp.c,tests/pd/net_dial.c,$(CLIENT_NET_SRC))))
$(call copies,$(TEST_PD)/dial,$(DEMO),profiler ticker)
$(call image,$(TEST_PD)/dial/dial.img,$(TEST_PD)/quiet/quiet.system,$(TEST_PD)/dial,$(QUIET_PDS))
$(call network_machine,$(TEST_PD)/dial)
TEST_SYSTEMS += quiet dial
endif
TEST_IMAGES := $(call bootable,$(addprefix $(TEST_PD)/,$(TEST_SYSTEMS))) \
    $(if $(TEST_SYSTEMS),$(B)/echo-load $(call bootable,$(B)/bench/line115200))

# ---- tools of the tests ----

# For tests of connections: interrupts them, and sends what no mkperf sends.
$(B)/net-tool: tests/tool/net_tool.c tests/tool/net_proxy.c tests/tool/net_tool.h | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(filter %.c,$^) -o $@

# For tests of cores that die: stops one of QEMU's.
$(B)/stop-core: tests/tool/stop_core.c | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $< -o $@

# Many targets in one process, for the scale of mkperf agent.
$(B)/fleet: tests/tool/fleet.c $(call host_objects,plain,tests/fixtures/fake_target.c tests/fixtures/batch_columns.c) $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(TEST_INCLUDES) -MMD -MP $< $(filter %.o %.a,$^) $(HOST_LIBS) -lcmocka -o $@

# Makes a large recording, for tests of speed.
$(B)/many-samples: tests/tool/many_samples.c $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -MMD -MP $< $(filter %.a,$^) $(HOST_LIBS) -o $@

# mkperf with sanitizers, for inputs that must not crash it.
$(B)/tests/mkperf-asan: $(B)/obj/asan/host/main.o $(B)/lib/asan/libmkperf.a
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(ASAN_FLAGS) $^ $(HOST_LIBS) -o $@

# The images of tests/system/riscv.sh. Not at the same time as those of AArch64: both make the sources of messages.
.PHONY: riscv64-images
riscv64-images: host target
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory -s ARCH=riscv64 $(call bootable,$(B)/riscv64/demo $(B)/riscv64/tests/pd/late)

test: riscv64-images host target $(B)/tests/mkperf-asan $(B)/net-tool $(B)/stop-core $(B)/many-samples $(TEST_IMAGES) $(UNIT_TESTS) $(TSAN_TESTS) $(FUZZERS)
	$(Q)B=$(B) tests/run

# While something is developed: the unit tests, the checks of text, and the demo's profile.
test-quick: host target $(UNIT_TESTS)
	$(Q)B=$(B) QUICK=yes tests/run
