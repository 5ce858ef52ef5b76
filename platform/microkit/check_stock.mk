# SPDX-License-Identifier: BSD-2-Clause
# make check-stock MICROKIT_SDK=...: `-e timer` on real seL4 in QEMU, with the SDK's kernel as it is. Where
# that has the hook, each sample is compared with it. Not part of `make test`, which needs no SDK.

.PHONY: check-stock
ifeq ($(MICROKIT_SDK),)
check-stock:
	@echo "check-stock: give it MICROKIT_SDK=<any Microkit SDK> MICROKIT_BOARD=qemu_virt_aarch64" \
	    "MICROKIT_CONFIG=<its configuration>" >&2; exit 1
else
# $(call stock_test,NAME,SOURCES): tests/pd/NAME.system with SOURCES as its program
define stock_test
$$(eval $$(call pd,$(B)/tests/stock/$(1)/$(1).elf,$(2)))
$(B)/tests/stock/$(1)/profiler.elf $(B)/tests/stock/$(1)/client.elf: $(B)/tests/stock/$(1)/%.elf: $(B)/demo/%.elf
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
$(B)/tests/stock/$(1)/$(1).system: tests/pd/$(1).system
	$$(Q)mkdir -p $$(@D) && sed $$(PLATFORM_SYSTEM_SED) $$< >$$@
$$(eval $$(call microkit_image,$(B)/tests/stock/$(1)/loader.img,$(B)/tests/stock/$(1)/$(1).system,\
    $(B)/tests/stock/$(1),$(patsubst %,$(B)/tests/stock/$(1)/%.elf,profiler client $(1))))
endef
$(eval $(call stock_test,robin,tests/pd/robin.c))
$(eval $(call stock_test,pair,tests/pd/pair.c))
$(eval $(call stock_test,deep,tests/pd/deep.c tests/pd/wildfp_spin.S pd/lib/own_stack.S))
$(B)/tests/stock/deep/deep.elf: private PLATFORM_LDFLAGS += -Wl,-e,mkperf_own_stack

check-stock: host $(B)/stock/loader.img $(if $(MICROKIT_CAPS),$(B)/shared/loader.img) $(foreach t,robin pair deep,$(B)/tests/stock/$(t)/loader.img) \
             $(if $(BOARD_FIRMWARE),$(B)/firmware.bin)
	$(Q)$(need_qemu) \
	B=$(B) MKPERF=$(B)/mkperf KERNEL=$(MICROKIT_BOARD_DIR)/elf/sel4.elf \
	STOCK_QEMU='$(call boot,@IMAGE@)' tests/sel4/check-stock
endif
