# SPDX-License-Identifier: BSD-2-Clause
# pocket, the built-in platform: its kernel, libmicrokit, the packer, and how to boot an image.

POCKET := platform/pocket
include $(POCKET)/qemu.mk

PLATFORM_CFLAGS := -I$(POCKET)/include
PLATFORM_LDFLAGS := -T $(POCKET)/lib/pd.ld
PLATFORM_CLOCK := cntvct_el0
PROFILER_TIMER := generic_timer
PLATFORM_SYSTEM_SED := -e '/mkperf_timer/d'
PROFILER_TIMER_CFLAGS := -DMKPERF_TIMER_VIRTUAL
PLATFORM_LIBS := $(B)/pocket/libmicrokit.a
PLATFORM_READY := $(PLATFORM_LIBS) $(POCKET)/lib/pd.ld

$(B)/pocket/libmicrokit.a: $(call target_objects,$(wildcard $(POCKET)/lib/*.[cS]))
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $^

# The kernel, with the hook in it. Frame pointers would cost a sample two instructions a call.
POCKET_KERNEL := $(B)/demo/kernel.elf
POCKET_KERNEL_CFLAGS := -std=c11 -O2 -g $(WARN) -mcpu=cortex-a53 -mgeneral-regs-only -ffreestanding \
    -fno-stack-protector -fno-pic -fomit-frame-pointer -fno-tree-loop-distribute-patterns \
    -mstrict-align -Iinclude -I$(POCKET)/include -I$(POCKET)/kernel
POCKET_KERNEL_SRC := $(wildcard $(POCKET)/kernel/*.[cS]) kernel/capture.c kernel/counts.c kernel/soft.c
POCKET_KERNEL_OBJ := $(patsubst %,$(B)/obj/pocket/%.o,$(basename $(POCKET_KERNEL_SRC)))

$(B)/obj/pocket/%.o: %.c | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(TARGET_CC) $(POCKET_KERNEL_CFLAGS) -MMD -MP -c $< -o $@
$(B)/obj/pocket/%.o: %.S | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(TARGET_CC) -mcpu=cortex-a53 -g -MMD -MP -c $< -o $@
$(POCKET_KERNEL): $(POCKET_KERNEL_OBJ) $(POCKET)/kernel/kernel.ld
	$(Q)mkdir -p $(@D)
	$(Q)$(TARGET_CC) -nostdlib -static -no-pie -Wl,--build-id -Wl,-z,max-page-size=4096 \
	    -T $(POCKET)/kernel/kernel.ld $(POCKET_KERNEL_OBJ) -o $@

$(B)/pocket-pack: $(call host_objects,plain,$(wildcard $(POCKET)/pack/*.c host/system/*.c) host/error.c)
	$(Q)$(HOST_CC) $^ -lelf -lexpat -o $@

# $(call pocket_image,IMAGE,SYSTEM,ELFDIR,DEPS): a rule that packs SYSTEM, whose ELFs are in ELFDIR
# and are made by DEPS, into IMAGE. To be used with $(eval ...).
define pocket_image
$(1): $(2) $(4) $(POCKET_KERNEL) $(B)/pocket-pack
	$$(Q)$(B)/pocket-pack $(2) --elf-path $(3) --kernel $(POCKET_KERNEL) -o $$@
endef

# Tests of the platform itself, see selftest/ and tests/system/pocket.sh.
POCKET_TEST := $(B)/pocket/selftest
POCKET_TEST_PDS := $(patsubst $(POCKET)/selftest/%.c,%,$(wildcard $(POCKET)/selftest/*.c))
$(foreach p,$(POCKET_TEST_PDS),\
    $(eval $(call pd,$(POCKET_TEST)/$(p).elf,$(POCKET)/selftest/$(p).c)))
$(foreach s,$(wildcard $(POCKET)/selftest/*.system),\
    $(eval $(call pocket_image,$(POCKET_TEST)/$(basename $(notdir $(s))).img,$(s),$(POCKET_TEST),\
        $(patsubst %,$(POCKET_TEST)/%.elf,$(POCKET_TEST_PDS)))))
.PHONY: pocket-selftest
pocket-selftest: $(patsubst %.system,$(POCKET_TEST)/%.img,$(notdir $(wildcard $(POCKET)/selftest/*.system)))
target: pocket-selftest
