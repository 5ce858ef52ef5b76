# SPDX-License-Identifier: BSD-2-Clause
# pocket, the built-in platform: its kernel, libmicrokit, the packer and its own tests. What the rest of
# the build reads of it is in settings.mk.

$(T)/pocket/libmicrokit.a: $(call target_objects,$(wildcard $(POCKET)/lib/*.[cS]))
	$(into)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $^

# The kernel, with the hook in it. Frame pointers would cost a sample two instructions a call.
POCKET_KERNEL_CFLAGS := -std=c11 -O2 -g1 $(WARN) $(POCKET_KERNEL_CPU) -ffreestanding \
    -fno-stack-protector -fno-pic -fomit-frame-pointer -fno-tree-loop-distribute-patterns \
    -mstrict-align -Iinclude -I$(POCKET)/include -I$(POCKET)/kernel -I$(POCKET)/kernel/$(ARCH)
$(call unit,$(T)/unit/$(POCKET)/kernel.c,$(wildcard $(POCKET)/kernel/*.c $(POCKET)/kernel/$(ARCH)/*.c))
POCKET_KERNEL_SRC := $(POCKET)/kernel $(wildcard $(POCKET)/kernel/$(ARCH)/*.S kernel/*.c) pd/lib/string.c $(filter pd/lib/bits.c,$(TARGET_LIB_SRC))
POCKET_KERNEL_OBJ := $(patsubst %,$(T)/obj/pocket/%.o,$(basename $(POCKET_KERNEL_SRC)))

$(T)/obj/pocket/%.o: %.c | $(SETUP)
	$(into)
	$(Q)$(TARGET_CC) $(POCKET_KERNEL_CFLAGS) -MMD -MP -c $< -o $@
$(T)/obj/pocket/%.o: $(T)/unit/%.c | $(SETUP)
	$(into)
	$(Q)$(TARGET_CC) $(POCKET_KERNEL_CFLAGS) $(UNIT_CFLAGS) -MMD -MP -c $< -o $@
$(T)/obj/pocket/%.o: %.S | $(SETUP)
	$(into)
	$(Q)$(TARGET_CC) $(POCKET_KERNEL_CPU) -I$(POCKET)/kernel -I$(POCKET)/kernel/$(ARCH) -g -MMD -MP -c $< -o $@
$(POCKET_KERNEL): $(POCKET_KERNEL_OBJ) $(POCKET)/kernel/$(ARCH)/kernel.ld
	$(into)
	$(Q)$(TARGET_CC) -nostdlib -static -no-pie -Wl,--build-id -Wl,-z,max-page-size=4096 \
	    -T $(POCKET)/kernel/$(ARCH)/kernel.ld $(POCKET_KERNEL_OBJ) -o $@

$(call unit,$(B)/unit/$(POCKET)/pack.c,$(wildcard $(POCKET)/pack/*.c))
$(B)/pocket-pack: $(B)/obj/plain/$(POCKET)/pack.o $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $^ $(HOST_LIBS) -o $@

# Tests of the platform itself, see selftest/ and tests/system/pocket.sh.
POCKET_TEST := $(T)/pocket/selftest
POCKET_TEST_PDS := $(patsubst $(POCKET)/selftest/%.c,%,$(wildcard $(POCKET)/selftest/*.c))
POCKET_TESTS := $(patsubst $(POCKET)/selftest/%.system,%,$(wildcard $(POCKET)/selftest/*.system))
$(foreach p,$(POCKET_TEST_PDS),$(call pd,$(POCKET_TEST)/$(p).elf,$(POCKET)/selftest/$(p).c))
$(foreach t,$(POCKET_TESTS),\
    $(call image,$(POCKET_TEST)/$(t).img,$(POCKET)/selftest/$(t).system,$(POCKET_TEST),$(POCKET_TEST_PDS)))
.PHONY: pocket-selftest
pocket-selftest: $(patsubst %,$(POCKET_TEST)/%.img,$(POCKET_TESTS))
target: $(if $(filter aarch64,$(ARCH)),pocket-selftest) # in assembly of AArch64

# For systems that include pocket.mk: the parts, and SYSTEM with mkperf in it, as OUT.
.PHONY: pocket-parts pocket-system
target: pocket-parts
pocket-parts: $(DEMO)/mkperf_profiler.elf $(DEMO)/mkperf_client.elf $(POCKET_KERNEL) $(PLATFORM_READY) $(B)/pocket-pack
pocket-system:
	$(Q){ sed '/<\/system>/d' $(SYSTEM) && scripts/make-system platform/microkit/mkperf.system.in $(SYSTEM_VALUES) 'QUEUE_MAPS=$(QUEUE_MAPS)' && \
	    echo '</system>'; } >$(OUT)
