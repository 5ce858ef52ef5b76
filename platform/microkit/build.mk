# SPDX-License-Identifier: BSD-2-Clause
# Images of the demo for a Microkit SDK, how they are booted in QEMU, and mkperf's PDs for other systems.

$(call image,$(B)/loader.img,$(DEMO)/demo.system,$(DEMO),$(DEMO_PDS))
# For a kernel without the extension, docs/stock.md.
$(call image,$(STOCK)/loader.img,$(STOCK)/stock.system,$(DEMO),$(DEMO_PDS))
# With Microkit 2.3 or later the profiler PD has capabilities of the other PDs instead.
MICROKIT_CAPS := $(shell grep -l MICROKIT_MAX_USER_CAPS $(MICROKIT_BOARD_DIR)/include/microkit.h)
$(call image,$(SHARED)/loader.img,$(SHARED)/shared.system,$(DEMO),$(DEMO_PDS))
# BOARD_PMU_IRQ is `none`: there is no hook for the board's architecture.
HOOKLESS := $(filter none,$(BOARD_PMU_IRQ))
target: $(if $(HOOKLESS),,$(B)/loader.img) $(if $(BOARD_TIMER_IRQ),$(STOCK)/loader.img $(if $(MICROKIT_CAPS),$(SHARED)/loader.img))

# With a kernel for several cores, a demo that uses two of them.
$(call image,$(CORES)/loader.img,$(CORES)/cores.system,$(DEMO),$(DEMO_PDS))
ifneq ($(filter-out 1,$(MICROKIT_CORES)),)
target: $(CORES)/loader.img
endif

# $(call boot,IMAGE): the command that boots IMAGE in QEMU. $(need_qemu): a recipe's beginning, which ends it
# where there is no QEMU with the board's machine.
boot = $(foreach IMAGE,$(1),$(BOARD_QEMU))
# $(call net_qemu,IMAGE): the same in real time, with room for network devices.
net_qemu = $(subst $(comma)sleep=off,,$(call boot,$(1))) -global virtio-mmio.force-legacy=false
# $(call boot_cores,IMAGE): the same with the kernel's number of cores, and one more, for fair turns (docs/qemu.md);
# needs $(TURNS). The timer of a network filter, which nothing goes through, ends each turn after 1 us. An instruction takes 1
# ns, since all cores share the machine's.
TURNS := $(B)/turns-$(MICROKIT_CORES).bin
boot_cores = $(subst $(comma)cpu-num=0,,$(subst shift=1,shift=0,$(call boot,$(1)))) -bios $(TURNS) \
    -smp $(words x $(wordlist 1,$(MICROKIT_CORES),x x x x x x x x)) -netdev hubport$(comma)id=pace$(comma)hubid=0 \
    -object filter-buffer$(comma)id=pacer$(comma)netdev=pace$(comma)interval=1
$(TURNS): tests/sel4/turns_firmware.S
	$(Q)mkdir -p $(@D) && $(CROSS)gcc -DCORES=$(MICROKIT_CORES) -nostdlib -static -no-pie -Wl,--build-id=none $< -o $@.elf && \
	    $(CROSS)objcopy -O binary $@.elf $@
need_qemu = $(if $(BOARD_QEMU),,echo "$@: give it MICROKIT_QEMU=<a qemu-system-$(ARCH) with a machine for" \
    "$(MICROKIT_BOARD)>" >&2; exit 1;) \
    $(MICROKIT_QEMU) -machine help | grep -q '^$(firstword $(subst $(comma), ,$(word 3,$(BOARD_QEMU)))) ' || { \
        echo "$@: $(MICROKIT_QEMU) has no machine for $(MICROKIT_BOARD)" >&2; exit 1; };
ifneq ($(BOARD_FIRMWARE),)
$(B)/firmware.bin: $(BOARD_FIRMWARE)
	$(Q)mkdir -p $(@D) && $(CROSS)gcc -nostdlib -static -no-pie -Wl,--build-id=none $< -o $@.elf && \
	    $(CROSS)objcopy -O binary $@.elf $@
endif

# The demo over the network, on a board with QEMU's virtio devices.
ifeq ($(BOARD_NET),virtio)
$(call image,$(NET)/loader.img,$(NET)/net.system,$(DEMO),$(NET_PDS))
target: $(NET)/loader.img
endif

# Prints the command that boots IMAGE (mkperf.mk).
.PHONY: microkit-qemu
microkit-qemu: $(if $(BOARD_FIRMWARE),$(B)/firmware.bin)
	$(Q)$(need_qemu) echo '$(call $(if $(MKPERF_NET),net_qemu,boot),$(IMAGE))'

# mkperf's PDs alone, for another system (mkperf.mk); MKPERF_NET: those of the network.
.PHONY: microkit-pds
ifneq ($(and $(MKPERF_NET),$(filter-out virtio,$(or $(BOARD_NET),none))),)
microkit-pds:
	@echo "MKPERF_NET: mkperf has no network driver for $(MICROKIT_BOARD); docs/sddf.md has sDDF's" >&2; exit 1
else
microkit-pds: $(call elves,$(B)/demo,mkperf_profiler $(if $(MKPERF_NET),client_net ticker,mkperf_client))
endif

# $(call with_mkperf,SYSTEM,OUT): the command that writes SYSTEM with mkperf in it, for this board.
with_mkperf = { sed '/<\/system>/d' $(1) && \
    scripts/make-system platform/microkit/mkperf$(if $(MKPERF_NET),_net).system.in $(SYSTEM_VALUES) 'QUEUE_MAPS=$(QUEUE_MAPS)' && \
    echo '</system>'; } >$(2)

# SYSTEM with mkperf in it, as OUT (mkperf.mk).
.PHONY: microkit-system
ifneq ($(HOOKLESS),)
microkit-system:
	@echo "$(MICROKIT_BOARD): there is no kernel hook for it. Write the profiler PD with its timer and <cspace> into" \
	    "$(SYSTEM), as docs/stock.md describes" >&2; exit 1
else
microkit-system:
	$(Q)$(call with_mkperf,$(SYSTEM),$(OUT))
endif

ifneq ($(SDDF),)
include platform/microkit/sddf.mk
endif
