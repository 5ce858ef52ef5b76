# SPDX-License-Identifier: BSD-2-Clause
# make check-sel4 MICROKIT_SDK=...: the demo, and a PD with broken frame pointers, on real seL4 in QEMU.
# Not part of `make test`, which needs no SDK. TESTS="sel4-sched ...": only these (tests/sel4/check has the names).
# COST=1: its cost instead, check_cost.mk.

.PHONY: check-sel4
ifeq ($(MICROKIT_SDK),)
check-sel4:
	@echo "check-sel4: give it MICROKIT_SDK=<a Microkit SDK whose kernel has the hook, see docs/sel4.md>" \
	    "MICROKIT_BOARD=qemu_virt_aarch64 MICROKIT_CONFIG=<its configuration>" >&2; exit 1
else ifneq ($(HOOKLESS),)
check-sel4:
	@echo "check-sel4: there is no kernel hook for $(MICROKIT_BOARD): make check-stock has its tests" >&2; exit 1
else ifneq ($(COST),)
include platform/microkit/check_cost.mk
else
SEL4_TEST := $(B)/tests/sel4
# What -icount of BOARD_QEMU makes of an instruction.
INSTRUCTION_NS := $(if $(findstring shift=1,$(BOARD_QEMU)),2,1)
# Virtual machines need a kernel at EL2.
FORGER_GUEST := $(if $(shell grep -s '^.define CONFIG_ARM_HYPERVISOR_SUPPORT  *1' $(MICROKIT_BOARD_DIR)/include/kernel/gen_config.h),guest)

# $(call guests_system,DIR,NAME,VALUES,MAPS): a guest and its monitor, or two, with mkperf's PDs.
define guests_rules
$(call pd,$(1)/vmm.elf,tests/sel4/bare_vmm.c tests/sel4/bare_guest.S)
$(call system,$(1)/$(2).system,tests/sel4/bare.system.in,$(3) 'QUEUE_MAPS=<map mr="exits" vaddr="0x40000000" perms="r" />$(4)')
$(1)/$(2).system: platform/microkit/mkperf.system.in
$(1)/loader.img: private STAMP_QUEUES = tests/sel4/$(2).queues
$(1)/loader.img: tests/sel4/$(2).queues
$(call copies,$(1),$(DEMO),mkperf_profiler mkperf_client)
$(call image,$(1)/loader.img,$(1)/$(2).system,$(1),mkperf_profiler mkperf_client vmm)
endef
GUESTS := $(SEL4_TEST)/guests
$(eval $(call guests_rules,$(GUESTS),guests,SECOND=yes \
    $(if $(filter-out 1,$(MICROKIT_CORES)),CORES,HALF)=yes,<map mr="second_exits" vaddr="0x40001000" perms="r" />))
GUESTS_IMAGE := $(if $(FORGER_GUEST),$(GUESTS)/loader.img)

ifneq ($(filter-out 1,$(MICROKIT_CORES)),)
# A kernel for several cores.
$(call program_system,$(SEL4_TEST),cores,tests/pd/cores.c demo/known_work.S)
$(call program_system,$(SEL4_TEST),contend,tests/pd/contend.c)
check-sel4: host $(SEL4_TEST)/cores/loader.img $(SEL4_TEST)/contend/loader.img $(CORES)/loader.img $(GUESTS_IMAGE) $(TURNS)
	$(Q)$(need_qemu) \
	B=$(B) MKPERF=$(B)/mkperf KERNEL=$(MICROKIT_KERNEL) CORES=$(MICROKIT_CORES) CORES_DIR=$(SEL4_TEST)/cores \
	CORES_QEMU='$(call boot_cores,$(SEL4_TEST)/cores/loader.img)' CONTEND_DIR=$(SEL4_TEST)/contend \
	CONTEND_QEMU='$(call boot_cores,$(SEL4_TEST)/contend/loader.img)' IDLE_DIR=$(CORES) \
	IDLE_QEMU='$(call boot_cores,$(CORES)/loader.img)' CROSS=$(CROSS) GUESTS_DIR=$(GUESTS) \
	GUESTS_QEMU='$(if $(GUESTS_IMAGE),$(call boot_cores,$(GUESTS_IMAGE)))' TESTS='$(TESTS)' tests/sel4/check
else
$(call program_system,$(SEL4_TEST),wildfp,tests/pd/wildfp.c tests/pd/wildfp_spin.S)
$(call program_system,$(SEL4_TEST),unframed,tests/pd/unframed.c)
$(call program_system,$(SEL4_TEST),flight,tests/pd/flight.c)
$(call program_system,$(SEL4_TEST),exact,tests/pd/exact.c)
$(call program_system,$(SEL4_TEST),callers,tests/pd/callers.c)
$(call program_system,$(SEL4_TEST),stopped,tests/pd/stopped.c)
$(call program_system,$(SEL4_TEST),sched,tests/pd/sched.c)
$(call program_system,$(SEL4_TEST),budget,tests/pd/budget.c)
$(call program_system,$(SEL4_TEST),demand,tests/pd/demand.c)
$(call program_system,$(SEL4_TEST),stack,tests/pd/stack.c)
$(TARGET_OBJ)/tests/pd/demand.o: TARGET_CFLAGS += -DINSTRUCTION_NS=$(INSTRUCTION_NS)
$(call program_system,$(SEL4_TEST),reasons,tests/pd/reasons.c)
$(call program_system,$(SEL4_TEST),path,tests/pd/path.c pd/timer/generic_timer.c)
$(call program_system,$(SEL4_TEST),starve,tests/pd/starve.c pd/timer/generic_timer.c)
$(TARGET_OBJ)/tests/pd/path.o $(TARGET_OBJ)/tests/pd/starve.o: TARGET_CFLAGS += -DINSTRUCTION_NS=2
TIMER_IMAGES := $(if $(filter generic_timer,$(BOARD_TIMER)),$(SEL4_TEST)/path/loader.img $(SEL4_TEST)/starve/loader.img)
# Kernels with a domain schedule: those of Microkit 2.3 and later.
$(call program_system,$(SEL4_TEST),domains,tests/pd/domains.c pd/timer/generic_timer.c)
$(TARGET_OBJ)/tests/pd/domains.o: TARGET_CFLAGS += -DINSTRUCTION_NS=2
DOMAINS_IMAGE := $(if $(MICROKIT_CAPS),$(if $(filter generic_timer,$(BOARD_TIMER)),$(SEL4_TEST)/domains/loader.img))

# Counted by QEMU's plugin, without mkperf's PDs.
counted_system = $(call pd,$(SEL4_TEST)/$(1)/counted.elf,tests/pd/$(1).c)\
    $(call system,$(SEL4_TEST)/$(1)/$(1).system,tests/pd/counted.system.in)\
    $(call image,$(SEL4_TEST)/$(1)/loader.img,$(SEL4_TEST)/$(1)/$(1).system,$(SEL4_TEST)/$(1),counted)
$(call counted_system,counted)
$(call counted_system,counted_more)

# The attacks below are on AArch64's registers.
ATTACKS := $(filter aarch64,$(ARCH))
FORGER_PDS := others $(FORGER_GUEST) forger guard intruder
$(call system,$(SEL4_TEST)/forger/forger.system,tests/pd/forger.system.in,HYPERVISOR=$(FORGER_GUEST))
$(foreach p,others forger guard,$(call pd,$(SEL4_TEST)/forger/$(p).elf,tests/pd/$(p).c $(CLIENT_UARTS)))
$(call pd,$(SEL4_TEST)/forger/guest.elf,tests/sel4/guest.c tests/pd/intruder_try.S $(CLIENT_UARTS))
$(call pd,$(SEL4_TEST)/forger/intruder.elf,tests/pd/intruder.c tests/pd/intruder_try.S)
$(call image,$(SEL4_TEST)/forger/loader.img,$(SEL4_TEST)/forger/forger.system,$(SEL4_TEST)/forger,$(FORGER_PDS))

BARE := $(SEL4_TEST)/bare
$(eval $(call guests_rules,$(BARE),bare))
BARE_IMAGE := $(if $(FORGER_GUEST),$(BARE)/loader.img)

# A Linux guest: GUEST_LINUX=<kernel> GUEST_INITRD=<its RAM disk> LIBVMM=<libvmm's directory>, whose example `simple` is built as it
# is. The guest has the UART, and mkperf the network. The VMM's priority, 254 in the example, is lowered below mkperf's.
LINUX := $(SEL4_TEST)/linux
LINUX_IMAGE := $(if $(GUEST_LINUX),$(LINUX)/loader.img)
$(LINUX)/vmm.elf:
	$(Q)$(MAKE) -s -C $(LIBVMM)/examples/simple BUILD_DIR=$(abspath $(LINUX))/libvmm MICROKIT_SDK=$(MICROKIT_SDK) \
	    MICROKIT_BOARD=$(MICROKIT_BOARD) MICROKIT_CONFIG=$(MICROKIT_CONFIG) LINUX=$(abspath $(GUEST_LINUX)) \
	    INITRD=$(abspath $(GUEST_INITRD)) all >$(LINUX).log 2>&1 || { cat $(LINUX).log; exit 1; }
	$(Q)cp $(LINUX)/libvmm/vmm.elf $@
$(LINUX)/linux.system: private MKPERF_NET := yes
$(LINUX)/linux.system: platform/microkit/mkperf_net.system.in scripts/make-system
	$(Q)mkdir -p $(@D) && sed 's/priority="254"/priority="150"/' $(LIBVMM)/examples/simple/board/$(MICROKIT_BOARD)/simple.system >$@.in
	$(Q)$(call with_mkperf,$@.in,$@)
$(call copies,$(LINUX),$(DEMO),mkperf_profiler)
$(LINUX)/mkperf_client.elf: $(DEMO)/client_net.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(LINUX)/mkperf_ticker.elf: $(DEMO)/ticker.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(call image,$(LINUX)/loader.img,$(LINUX)/linux.system,$(LINUX),mkperf_profiler mkperf_client mkperf_ticker vmm)

# The attacks of tests/system/hostile.sh. PDs of the first system print by the kernel.
$(call program_system,$(SEL4_TEST),hostile,tests/pd/hostile.c)
EVIL := $(SEL4_TEST)/hostile_profiler
$(call pd,$(EVIL)/hostile_profiler.elf,tests/pd/hostile_profiler.c $(CLIENT_UARTS))
$(TARGET_OBJ)/tests/pd/hostile_profiler.o: TARGET_CFLAGS += $(CLOCK_CFLAGS)
$(call system,$(EVIL)/hostile_profiler.system,tests/pd/hostile_profiler.system.in)
$(call image,$(EVIL)/loader.img,$(EVIL)/hostile_profiler.system,$(EVIL),hostile_profiler)

# SEL4_SOURCES=<directory>: also that the patch does not change the text of verified configurations.
SEL4_PREPROCESSED := $(if $(SEL4_SOURCES),tests/sel4/check-preprocessed $(SEL4_SOURCES) $(SEL4_TEST)/preprocessed)
.PHONY: check-sel4-preprocessed
check-sel4-preprocessed:
	$(Q)$(or $(SEL4_PREPROCESSED),echo "$@: give it SEL4_SOURCES=<unpatched seL4 sources>" >&2; false)

# The network demo with a key, and a network client without a workload: see tests/systems.mk.
$(call pd,$(SEL4_TEST)/netkey/client_net.elf,$(call with_test_key,$(CLIENT_NET_SRC)))
$(call copies,$(SEL4_TEST)/netkey,$(DEMO),$(filter-out client_net,$(NET_PDS)))
$(call image,$(SEL4_TEST)/netkey/loader.img,$(NET)/net.system,$(SEL4_TEST)/netkey,$(NET_PDS))
$(call system,$(SEL4_TEST)/quiet/quiet.system,tests/pd/quiet.system.in)
$(call copies,$(SEL4_TEST)/quiet,$(DEMO),$(QUIET_PDS))
$(call image,$(SEL4_TEST)/quiet/loader.img,$(SEL4_TEST)/quiet/quiet.system,$(SEL4_TEST)/quiet,$(QUIET_PDS))
SEL4_NET_TESTS := $(if $(filter virtio,$(BOARD_NET)),$(B)/net-tool $(SEL4_TEST)/netkey/loader.img \
    $(SEL4_TEST)/quiet/loader.img)

# Who has samples for certain: the client writes to an emulated UART, in next to no time.
check-sel4: host target $(B)/echo-load $(B)/loader.img $(SEL4_TEST)/wildfp/loader.img $(SEL4_TEST)/unframed/loader.img \
            $(SEL4_TEST)/flight/loader.img $(SEL4_TEST)/exact/loader.img $(SEL4_TEST)/counted/loader.img $(SEL4_TEST)/counted_more/loader.img $(SEL4_TEST)/callers/loader.img $(SEL4_TEST)/stopped/loader.img $(SEL4_TEST)/sched/loader.img $(SEL4_TEST)/budget/loader.img $(SEL4_TEST)/demand/loader.img $(SEL4_TEST)/stack/loader.img $(TIMER_IMAGES) $(DOMAINS_IMAGE) $(SEL4_TEST)/reasons/loader.img $(SEL4_NET_TESTS) \
            $(BARE_IMAGE) $(GUESTS_IMAGE) $(LINUX_IMAGE) $(if $(ATTACKS),$(SEL4_TEST)/forger/loader.img $(SEL4_TEST)/hostile/loader.img $(EVIL)/loader.img) $(if $(BOARD_FIRMWARE),$(B)/firmware.bin)
	$(Q)$(need_qemu) \
	B=$(B) MKPERF=$(B)/mkperf KERNEL=$(MICROKIT_KERNEL) \
	DEMO_QEMU='$(call boot,$(B)/loader.img)' \
	WILDFP_DIR=$(SEL4_TEST)/wildfp UNFRAMED_DIR=$(SEL4_TEST)/unframed \
	UNFRAMED_QEMU='$(call boot,$(SEL4_TEST)/unframed/loader.img)' \
	WILDFP_QEMU='$(call boot,$(SEL4_TEST)/wildfp/loader.img)' \
	FLIGHT_DIR=$(SEL4_TEST)/flight \
	FLIGHT_QEMU='$(call boot,$(SEL4_TEST)/flight/loader.img)' \
	EXACT_DIR=$(SEL4_TEST)/exact \
	EXACT_QEMU='$(call boot,$(SEL4_TEST)/exact/loader.img)' \
	COUNTED=$(SEL4_TEST) COUNTED_QEMU='$(call boot,$(SEL4_TEST)/counted/loader.img)' \
	COUNTED_MORE_QEMU='$(call boot,$(SEL4_TEST)/counted_more/loader.img)' \
	CALLERS_DIR=$(SEL4_TEST)/callers \
	CALLERS_QEMU='$(call boot,$(SEL4_TEST)/callers/loader.img)' \
	STOPPED_DIR=$(SEL4_TEST)/stopped \
	STOPPED_QEMU='$(call boot,$(SEL4_TEST)/stopped/loader.img)' \
	FIRST_BOARD=$(MICROKIT_BOARD_DIR) FIRST_QEMU=$(MICROKIT_QEMU) \
	SCHED_DIR=$(SEL4_TEST)/sched \
	BUDGET_DIR=$(SEL4_TEST)/budget \
	BUDGET_QEMU='$(call boot,$(SEL4_TEST)/budget/loader.img)' \
	DEMAND_DIR=$(SEL4_TEST)/demand \
	DEMAND_QEMU='$(call boot,$(SEL4_TEST)/demand/loader.img)' \
	STACK_DIR=$(SEL4_TEST)/stack \
	STACK_QEMU='$(call boot,$(SEL4_TEST)/stack/loader.img)' \
	PATH_DIR=$(SEL4_TEST)/path PATH_QEMU='$(if $(TIMER_IMAGES),$(call boot,$(SEL4_TEST)/path/loader.img))' \
	STARVE_DIR=$(SEL4_TEST)/starve STARVE_QEMU='$(if $(TIMER_IMAGES),$(call boot,$(SEL4_TEST)/starve/loader.img))' \
	DOMAINS_DIR=$(SEL4_TEST)/domains DOMAINS_QEMU='$(if $(DOMAINS_IMAGE),$(call boot,$(DOMAINS_IMAGE)))' \
	MICROKIT='$(microkit_run) --board $(MICROKIT_BOARD) --config $(MICROKIT_CONFIG)' \
	REASONS_DIR=$(SEL4_TEST)/reasons \
	REASONS_QEMU='$(call boot,$(SEL4_TEST)/reasons/loader.img)' \
	SCHED_QEMU='$(call boot,$(SEL4_TEST)/sched/loader.img)' \
	HOSTILE_DIR=$(SEL4_TEST)/hostile \
	HOSTILE_QEMU='$(call boot,$(SEL4_TEST)/hostile/loader.img)' \
	EVIL_QEMU='$(call boot,$(EVIL)/loader.img)' \
	CROSS=$(CROSS) BARE_DIR=$(BARE) BARE_QEMU='$(if $(BARE_IMAGE),$(call boot,$(BARE_IMAGE)))' \
	GUESTS_DIR=$(GUESTS) GUESTS_QEMU='$(if $(GUESTS_IMAGE),$(call boot,$(GUESTS_IMAGE)))' \
	LINUX_DIR=$(LINUX) LINUX_QEMU='$(if $(LINUX_IMAGE),$(call net_qemu,$(LINUX_IMAGE)))' \
	FORGER_GUEST=$(FORGER_GUEST) FORGER_QEMU='$(call boot,$(SEL4_TEST)/forger/loader.img)' PREPROCESSED='$(SEL4_PREPROCESSED)' \
	NET_QEMU='$(call net_qemu,$(B)/net/loader.img)' \
	NETKEY_QEMU='$(call net_qemu,$(SEL4_TEST)/netkey/loader.img)' \
	QUIET_QEMU='$(call net_qemu,$(SEL4_TEST)/quiet/loader.img)' \
	PRINTING=$$(sed -n 's/^#define CONFIG_PRINTING *\([01]\).*/\1/p' \
	    $(MICROKIT_BOARD_DIR)/include/kernel/gen_config.h) \
	CORES=1 ARCH=$(ARCH) NS=$(INSTRUCTION_NS) ATTACKS=$(ATTACKS) TESTS='$(TESTS)' PDS="server requester dummy2 dummy1 known idle" tests/sel4/check
endif
endif
