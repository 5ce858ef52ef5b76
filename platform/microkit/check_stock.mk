# SPDX-License-Identifier: BSD-2-Clause
# make check-stock MICROKIT_SDK=...: `-e timer` on real seL4 in QEMU, with the SDK's kernel as it is. Where
# that has the hook, each sample is compared with it. Not part of `make test`, which needs no SDK.

.PHONY: check-stock
ifeq ($(MICROKIT_SDK),)
check-stock:
	@echo "check-stock: give it MICROKIT_SDK=<any Microkit SDK> MICROKIT_BOARD=<qemu_virt_aarch64 or x86_64_generic>" \
	    "MICROKIT_CONFIG=<its configuration>" >&2; exit 1
else
STOCK_TEST := $(B)/tests/stock
$(call program_system,$(STOCK_TEST),robin,tests/pd/robin.c)
$(call program_system,$(STOCK_TEST),pair,tests/pd/pair.c)
$(call program_system,$(STOCK_TEST),called,tests/pd/callers.c)
# Stacks in the profiler PD's reach need a link register.
STOCK_DEEP := $(if $(filter aarch64,$(ARCH)),deep)
$(call program_system,$(STOCK_TEST),deep,tests/pd/deep.c tests/pd/wildfp_spin.S pd/lib/own_stack.S)
$(STOCK_TEST)/deep/deep.elf: private PLATFORM_LDFLAGS += -Wl,-e,mkperf_own_stack

check-stock: host $(STOCK)/loader.img $(if $(MICROKIT_CAPS),$(SHARED)/loader.img) \
             $(foreach t,robin pair called $(STOCK_DEEP),$(STOCK_TEST)/$(t)/loader.img) \
             $(if $(BOARD_FIRMWARE),$(B)/firmware.bin)
	$(Q)$(need_qemu) \
	B=$(B) MKPERF=$(B)/mkperf KERNEL=$(MICROKIT_KERNEL) ARCH=$(ARCH) \
	STOCK_QEMU='$(call boot,@IMAGE@)' tests/sel4/check-stock
endif
