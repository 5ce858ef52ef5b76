# SPDX-License-Identifier: BSD-2-Clause
# The systems that only tests run, on the built-in platform. System NAME is built in $(TEST_PD)/NAME:
#
#   NAME.system     its description, made from a template in tests/pd
#   *.elf           its programs: those of the test, and copies of the demo's
#   NAME.img        the image, and beside it qemu-command, the command that boots it
#
# Most systems are mkperf's two PDs and one program. Such a system needs tests/pd/NAME.system.in, its program tests/pd/NAME.c, and a line
# `$(call test_program,...)` below. The functions pd, copies, system and image are those of pd/rules.mk.
TEST_PD := $(T)/tests/pd
TEST_SYSTEMS :=

# $(call described,NAME,TEMPLATE,VALUES): the description of NAME.
described = $(call system,$(TEST_PD)/$(1)/$(1).system,$(2),$(3))

# $(call test_pd,NAME,PD,SOURCES): a program of NAME.
test_pd = $(call pd,$(TEST_PD)/$(1)/$(2).elf,$(3))

# $(call test_image,NAME,COPIES,OWN,DESCRIPTION): the image of NAME, from copies of the demo's programs COPIES and its own programs OWN.
# DESCRIPTION: a file that another system has; without it NAME.system.
test_image = $(call copies,$(TEST_PD)/$(1),$(DEMO),$(2))\
    $(call image,$(TEST_PD)/$(1)/$(1).img,$(or $(4),$(TEST_PD)/$(1)/$(1).system),$(TEST_PD)/$(1),$(2) $(3))\
    $(eval TEST_SYSTEMS += $(1))

# $(call test_program,NAME,SOURCES): mkperf's two PDs and one program, NAME.elf.
test_program = $(call test_pd,$(1),$(1),$(2))$(call described,$(1),tests/pd/$(1).system.in)$(call test_image,$(1),profiler client,$(1))

# $(call test_alone,NAME,PROGRAM,SOURCES): PROGRAM.elf without mkperf's PDs, described by tests/pd/PROGRAM.system.in.
test_alone = $(call test_pd,$(1),$(2),$(3))$(call described,$(1),tests/pd/$(2).system.in)$(call test_image,$(1),,$(2))

# A client that requires the key tests/pd/test.key: $(call with_test_key,ITS SOURCES) has that key in place of the build's.
$(B)/tests/key/key.c: tests/pd/test.key scripts/key-source
	$(Q)scripts/key-source $@ $<
with_test_key = $(patsubst $(B)/key/key.c,$(B)/tests/key/key.c,$(1))

QUIET_PDS := profiler client_net ticker # tests/pd/quiet.system.in

$(TARGET_OBJ)/tests/pd/unframed.o: private TARGET_CFLAGS += -fomit-frame-pointer
$(TARGET_OBJ)/tests/pd/unframed_llvm.o: private TARGET_CFLAGS := $(filter-out -fno-tree-loop-distribute-patterns -fno-omit-frame-pointer $(if $(filter riscv64,$(ARCH)),-mstrict-align),$(TARGET_CFLAGS)) -fomit-frame-pointer
$(TARGET_OBJ)/tests/pd/unframed_llvm.o: private TARGET_CC = clang --target=$(ARCH)-linux-gnu
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
$(call test_pd,unframed_llvm,unframed,tests/pd/unframed_llvm.c)$(call described,unframed_llvm,tests/pd/unframed.system.in)
$(call test_image,unframed_llvm,profiler client,unframed)
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
flow_system = $(call test_pd,$(1),flow,tests/pd/flow.c)$(call described,$(1),tests/pd/flow.system.in,$(3))\
    $(call test_image,$(1),profiler client,flow)\
    $(call system,$(TEST_PD)/$(1)/$(1).queues,tests/pd/$(2).queues.in,$(3))\
    $(eval $(TEST_PD)/$(1)/$(1).img: $(TEST_PD)/$(1)/$(1).queues)\
    $(eval $(TEST_PD)/$(1)/$(1).img: private STAMP_QUEUES = $(TEST_PD)/$(1)/$(1).queues)
$(call flow_system,flow,flow,A=a2 B=b8 C=c4 D=d1 CPU=0)
$(call flow_system,flow_counted,flow_counted,A=a2 B=b8 C=c4 D=d1 CPU=0)
$(call flow_system,flow_slow,flow,A=a2 B=b80 C=c4 D=d1 CPU=1)
$(call flow_system,flow_evil,flow,A=a2 B=b8 C=c4 D=evil20 CPU=0)
$(TEST_PD)/flow_slow/qemu-command: private QEMU_SMP = 2

# Programs that need no profiler: threads that are deleted during samples, and a known number of instructions (one has one more).
$(call test_alone,race,race,tests/pd/race.c)
$(TEST_PD)/race/qemu-command: private QEMU_SMP = 2
$(call test_alone,counted,counted,tests/pd/counted.c)
$(call test_alone,counted_more,counted,tests/pd/counted_more.c)

# A program in the place of the profiler PD.
$(call test_alone,hostile_profiler,hostile_profiler,tests/pd/hostile_profiler.c $(CLIENT_UARTS))

# The demo with a timer and without the hook: no PD has the PMU's interrupt.
$(call described,nohook,demo/demo.system.in,PACER=pacer TIMER=1 CHILDREN=1 NOHOOK=1)
$(call test_image,nohook,$(DEMO_PDS))

# The demo on two cores with a timer, whose samples are of core 0.
$(call described,stockcores,demo/demo.system.in,PACER=pacer TIMER=1 CHILDREN=1 CORES=1)
$(call test_image,stockcores,$(DEMO_PDS))
$(TEST_PD)/stockcores/qemu-command: private QEMU_SMP = 2

# The demo over a serial line, with the key.
$(call test_pd,demokey,client,$(call with_test_key,$(CLIENT_SRC)))
$(call test_image,demokey,$(filter-out client,$(DEMO_PDS)),client,$(DEMO)/demo.system)

# A network client without a workload; one that has the key; one that dials and has the key.
$(call described,quiet,tests/pd/quiet.system.in)
$(call test_image,quiet,$(QUIET_PDS))
$(call network_machine,$(TEST_PD)/quiet)
$(call test_pd,netkey,client_net,$(call with_test_key,$(CLIENT_NET_SRC)))
$(call test_image,netkey,profiler ticker,client_net,$(TEST_PD)/quiet/quiet.system)
$(call network_machine,$(TEST_PD)/netkey)
$(TARGET_OBJ)/tests/pd/net_dial.o: TARGET_CFLAGS += $(NET_CFLAGS) $(CLOCK_CFLAGS)
$(TARGET_OBJ)/tests/pd/net_dial.o: $(B)/src/lwip.stamp
$(call test_pd,dial,client_net,$(call with_test_key,$(patsubst pd/net/tcp.c,tests/pd/net_dial.c,$(CLIENT_NET_SRC))))
$(call test_image,dial,profiler ticker,client_net,$(TEST_PD)/quiet/quiet.system)
$(call network_machine,$(TEST_PD)/dial)
endif

# What `make test` boots. For a part of the tests: $(call bootable,$(TEST_PD)/NAME).
TEST_IMAGES := $(call bootable,$(addprefix $(TEST_PD)/,$(TEST_SYSTEMS))) \
    $(if $(TEST_SYSTEMS),$(B)/echo-load $(call bootable,$(B)/bench/line115200))
