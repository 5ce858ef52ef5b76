# SPDX-License-Identifier: BSD-2-Clause
# make check-sel4 COST=1 MICROKIT_SDK=...: what the hook and a whole sample cost on real seL4, in guest
# instructions. MICROKIT_PLAIN=<directory board/BOARD/CONFIGURATION of an SDK>: a kernel to compare with.

COST_DIR := $(B)/tests/cost
COST_SRC := tests/sel4/cost
COST_FRAMES := 10 8
COST_PDS := caller callee waiter

# $(call boot_cost,IMAGE): programs tell times over semihosting.
boot_cost = $(call boot,$(1)) -semihosting-config enable=on$(comma)target=native$(comma)userspace=on

$(foreach p,$(COST_PDS),$(call pd,$(COST_DIR)/entries/$(p).elf,$(COST_SRC)/$(p).c))
$(call image,$(COST_DIR)/entries/loader.img,$(COST_SRC)/entries.system,$(COST_DIR)/entries,$(COST_PDS))

# $(call busy,FRAMES) and served, in whose chains two PDs wait for the busy one.
define busy_rules
$(COST_DIR)/busy$(1)/busy.elf: private PLATFORM_LDFLAGS += -Wl,--defsym,busy_frames=$(1)
$(COST_DIR)/busy$(1)/busy.system: $(COST_SRC)/busy.system platform/microkit/mkperf.system.in scripts/make-system
	$$(into)
	$$(Q)$$(call with_mkperf,$$<,$$@)
endef
busy = $(eval $(call busy_rules,$(1)))\
    $(call pd,$(COST_DIR)/busy$(1)/busy.elf,$(COST_SRC)/busy.c)\
    $(call copies,$(COST_DIR)/busy$(1),$(DEMO),mkperf_profiler mkperf_client)\
    $(call image,$(COST_DIR)/busy$(1)/loader.img,$(COST_DIR)/busy$(1)/busy.system,$(COST_DIR)/busy$(1),mkperf_profiler mkperf_client busy)
$(foreach f,$(COST_FRAMES),$(call busy,$(f)))

$(call pd,$(COST_DIR)/served/asker.elf,$(COST_SRC)/asker.c)
$(COST_DIR)/served/served.system: $(COST_SRC)/served.system platform/microkit/mkperf.system.in scripts/make-system
	$(into)
	$(Q)$(call with_mkperf,$<,$@)
$(call copies,$(COST_DIR)/served,$(DEMO),mkperf_profiler mkperf_client)
$(call copies,$(COST_DIR)/served,$(COST_DIR)/busy$(firstword $(COST_FRAMES)),busy)
$(call image,$(COST_DIR)/served/loader.img,$(COST_DIR)/served/served.system,$(COST_DIR)/served,mkperf_profiler mkperf_client busy asker)

# The entries again, with mkperf beside them.
$(COST_DIR)/watched/watched.system: $(COST_SRC)/entries.system platform/microkit/mkperf.system.in scripts/make-system
	$(into)
	$(Q)$(call with_mkperf,$<,$@)
$(call copies,$(COST_DIR)/watched,$(DEMO),mkperf_profiler mkperf_client)
$(call copies,$(COST_DIR)/watched,$(COST_DIR)/entries,$(COST_PDS))
$(call image,$(COST_DIR)/watched/loader.img,$(COST_DIR)/watched/watched.system,$(COST_DIR)/watched,mkperf_profiler mkperf_client $(COST_PDS))

ifneq ($(MICROKIT_PLAIN),)
PLAIN_KERNEL := $(MICROKIT_PLAIN)/elf/sel4.elf
$(COST_DIR)/plain/loader.img: $(COST_DIR)/entries/loader.img $(PLAIN_KERNEL)
	$(into)
	$(Q)! $(CROSS)nm $(PLAIN_KERNEL) | grep -q ' mkperf_' || { echo "MICROKIT_PLAIN: $(PLAIN_KERNEL) has the hook" >&2; exit 1; }
	$(Q)MICROKIT_SDK=$(MICROKIT_PLAIN)/../../.. $(MICROKIT_PLAIN)/../../../bin/microkit $(COST_SRC)/entries.system --search-path $(COST_DIR)/entries \
	    --board $(MICROKIT_BOARD) --config $(notdir $(abspath $(MICROKIT_PLAIN))) -o $@ -r $(@D)/loader.txt >$(@D)/loader.log || \
	    { cat $(@D)/loader.log >&2; exit 1; }
PLAIN_IMAGE := $(COST_DIR)/plain/loader.img
endif

check-sel4: host $(COST_DIR)/entries/loader.img $(PLAIN_IMAGE) \
            $(foreach f,$(COST_FRAMES),$(COST_DIR)/busy$(f)/loader.img) $(COST_DIR)/served/loader.img $(COST_DIR)/watched/loader.img
	$(Q)$(need_qemu) \
	B=$(B) CROSS=$(CROSS) MKPERF=$(B)/mkperf KERNEL=$(MICROKIT_KERNEL) \
	FRAMES='$(COST_FRAMES)' RATES='$(or $(RATES),1000 10000)' PARTS='$(PARTS)' \
	PLAIN_KERNEL='$(PLAIN_KERNEL)' PLAIN_QEMU='$(if $(PLAIN_IMAGE),$(call boot_cost,$(PLAIN_IMAGE)))' \
	ENTRIES_QEMU='$(call boot_cost,$(COST_DIR)/entries/loader.img)' \
	WATCHED_QEMU='$(call boot_cost,$(COST_DIR)/watched/loader.img)' \
	SERVED_QEMU='$(call boot_cost,$(COST_DIR)/served/loader.img)' \
	BUSY_QEMU='$(call boot_cost,$(COST_DIR)/busy@FRAMES@/loader.img)' $(COST_SRC)/run
