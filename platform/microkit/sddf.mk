# SPDX-License-Identifier: BSD-2-Clause
# SDDF=<path of the seL4 Device Driver Framework>: client PDs that are clients of its classes, for
# every board that it has drivers for (docs/net.md):
#
#   client_sddf.elf         network and timer classes, over sDDF's own copy of lwIP
#   client_sddf_serial.elf  serial class
#
# SDDF_BUILD=<directory>: where sDDF's own build left the ELFs of its components for the board; then also
# whole systems, $(B)/sddf/serial/loader.img and, for QEMU's virt machine, $(B)/sddf/net/loader.img.

SDDF_DIR := platform/microkit/sddf
ifeq ($(wildcard $(SDDF)/include/sddf/network/config.h),)
$(error SDDF: there is no sDDF 0.6 or later in $(SDDF))
endif

# As in build.mk: what was made for other sources goes.
SDDF_FOR := $(MICROKIT_FOR) $(abspath $(SDDF)) $(if $(SDDF_BUILD),$(abspath $(SDDF_BUILD))) $(NET_ADDRESS_CFLAGS)
ifneq ($(shell cat $(B)/sddf-for 2>/dev/null),$(subst ',,$(SDDF_FOR)))
$(shell rm -rf $(SDDF_OBJ) $(B)/sddf $(B)/demo/client_sddf* && echo '$(subst ',,$(SDDF_FOR))' >$(B)/sddf-for)
endif

# The other one is in pd/net/build.mk.
SDDF_SERIAL_OBJ := $(addprefix $(SDDF_OBJ)/pd/,client/serial.o sddf/serial.o sddf/assert.o)
$(SDDF_OBJ)/pd/client/%.o: SDDF_CFLAGS += -DMKPERF_TRANSPORT=mkperf_sddf_serial
$(B)/demo/client_sddf_serial.elf: $(SDDF_SERIAL_OBJ) $(call target_objects,$(CLIENT_COMMON_SRC)) $(PLATFORM_READY)
	$(into)
	$(Q)$(target_link)

# Only the PDs, for another system and any board.
.PHONY: sddf-pds
sddf-pds: $(B)/demo/mkperf_profiler.elf $(B)/demo/client_sddf.elf $(B)/demo/client_sddf_serial.elf
target: sddf-pds

ifneq ($(SDDF_BUILD),)
SDDF_CONFIG := $(SDDF_OBJ)/$(SDDF_DIR)/config.o
# sDDF 0.7 has an echo.elf; before it there is no `planted`.
SDDF_NETS := net $(if $(wildcard $(SDDF_BUILD)/echo.elf),planted)
SDDF_LAYOUT := $(shell sed -n 's/^\#define \([A-Z_]*\) \([0-9a-fx]*\)$$/\1=\2/p' $(SDDF_DIR)/layout.h)

# $(call sddf_elf,SYSTEM,PD,ELF,SECTION=CONFIG ...): $(B)/sddf/SYSTEM/PD.elf is ELF with those variables
# of config.c in those sections.
config_of = $(lastword $(subst =, ,$(1)))
section_of = $(firstword $(subst =, ,$(1)))
define sddf_elf_rules
$(B)/sddf/$(1)/$(2).elf: $(3) $(if $(4),$(SDDF_CONFIG))
	$$(into)
	$$(Q)$(foreach c,$(4),$(CROSS)objcopy -O binary -j .config.$(call config_of,$(c)) $(SDDF_CONFIG) $$@.$(call config_of,$(c)) &&) \
	    $(CROSS)objcopy $(foreach c,$(4),--update-section .$(call section_of,$(c))=$$@.$(call config_of,$(c))) $$< $$@
	$$(Q)rm -f $$@.*
SDDF_PDS_$(1) += $(2)
endef
sddf_elf = $(eval $(call sddf_elf_rules,$(1),$(2),$(3),$(4)))
# $(call sddf_system,SYSTEM)
sddf_system = $(foreach e,$(DEMO_WORK) profiler pacer,$(call sddf_elf,$(1),$(e),$(DEMO)/$(e).elf))\
    $(call system,$(B)/sddf/$(1)/$(1).system,$(SDDF_DIR)/$(1:planted=net).system.in,$(SDDF_LAYOUT))\
    $(call image,$(B)/sddf/$(1)/loader.img,$(B)/sddf/$(1)/$(1).system,$(B)/sddf/$(1),$(SDDF_PDS_$(1)))
target: $(foreach s,serial $(if $(filter virtio,$(BOARD_NET)),$(SDDF_NETS)),$(B)/sddf/$(s)/loader.img)

$(call sddf_elf,serial,client,$(B)/demo/client_sddf_serial.elf,serial_client_config=client.serial)
$(call sddf_elf,serial,serial_driver,$(SDDF_BUILD)/serial_driver.elf,\
    device_resources=serial_driver.device serial_driver_config=serial_driver.serial)
$(call sddf_elf,serial,serial_virt_rx,$(SDDF_BUILD)/serial_virt_rx.elf,serial_virt_rx_config=serial_virt_rx.serial)
$(call sddf_elf,serial,serial_virt_tx,$(SDDF_BUILD)/serial_virt_tx.elf,serial_virt_tx_config=serial_virt_tx.serial)
$(call sddf_system,serial)

ifeq ($(BOARD_NET),virtio)
# `planted` is `net` with programs that planted.c changes: their objects, what it wraps in them, and sDDF's utility library.
SDDF_PLANTED := $(SDDF_OBJ)/$(SDDF_DIR)/planted.o
$(SDDF_PLANTED): private SDDF_CFLAGS += -DSLOW=$(or $(SDDF_SLOW),60000)
define sddf_planted_rules
$(SDDF_OBJ)/planted/$(1).elf: $(addprefix $(SDDF_BUILD)/,$(2)) $(SDDF_PLANTED)
	$$(into)
	$$(Q)ld.lld -L$(MICROKIT_BOARD_DIR)/lib $$^ $(addprefix --wrap=,$(3)) --start-group -lmicrokit -Tmicrokit.ld \
	    $(SDDF_BUILD)/libsddf_util_debug.a --end-group -o $$@
endef
sddf_planted = $(eval $(call sddf_planted_rules,$(1),$(2),$(3)))
$(call sddf_planted,timer_driver,timer/timer_driver.o,protected)
$(call sddf_planted,network_copy,network/components/network_copy.o,memcpy notified)
$(call sddf_planted,echo,echo.o utilization_socket.o udp_echo_socket.o tcp_echo_socket.o libsddf_util.a lib_sddf_lwip_echo.a,udp_sendto)
$(B)/sddf/planted/loader.img: $(SDDF_DIR)/planted.queues
$(B)/sddf/planted/loader.img: private STAMP_QUEUES = $(SDDF_DIR)/planted.queues

# $(call sddf_net,SYSTEM,PLANTED): PLANTED is where the programs that are not sDDF's own are.
define sddf_net
$(call sddf_elf,$(1),client,$(B)/demo/client_sddf.elf,net_client_config=client.net timer_client_config=client.timer)
$(call sddf_elf,$(1),timer_driver,$(2)/timer_driver.elf,device_resources=timer_driver.device)
$(call sddf_elf,$(1),eth_driver,$(SDDF_BUILD)/eth_driver.elf,\
    device_resources=eth_driver.device net_driver_config=eth_driver.net)
$(call sddf_elf,$(1),net_virt_rx,$(SDDF_BUILD)/network_virt_rx.elf,net_virt_rx_config=net_virt_rx.net)
$(call sddf_elf,$(1),net_virt_tx,$(SDDF_BUILD)/network_virt_tx.elf,net_virt_tx_config=net_virt_tx.net)
$(call sddf_elf,$(1),net_copy_mkperf,$(SDDF_BUILD)/network_copy.elf,net_copy_config=net_copy_mkperf.net)
$(call sddf_elf,$(1),net_copy_echo,$(2)/network_copy.elf,net_copy_config=net_copy_echo.net)
$(call sddf_elf,$(1),serial_driver,$(SDDF_BUILD)/serial_driver.elf,\
    device_resources=serial_driver.device serial_driver_config=serial_driver_tx.serial)
$(call sddf_elf,$(1),serial_virt_tx,$(SDDF_BUILD)/serial_virt_tx.elf,serial_virt_tx_config=serial_virt_tx_net.serial)
$(call sddf_elf,$(1),echo,$(or $(wildcard $(2)/echo0.elf),$(2)/echo.elf),serial_client_config=echo.serial \
    net_client_config=echo.net timer_client_config=client.timer lib_sddf_lwip_config=echo.lwip)
$(call sddf_system,$(1))
endef
$(call sddf_net,net,$(SDDF_BUILD))
$(if $(filter planted,$(SDDF_NETS)),$(call sddf_net,planted,$(SDDF_OBJ)/planted))
endif

# Both, booted and recorded from.
.PHONY: check-sddf
check-sddf: host target $(B)/echo-load $(B)/net-tool
	$(Q)$(need_qemu) \
	ECHO_TCP=$(if $(wildcard $(SDDF)/include/sddf/network/mac802.h),1236,1237) \
	B=$(B) MKPERF=$(B)/mkperf KERNEL=$(MICROKIT_KERNEL) \
	SERIAL_QEMU='$(call boot,$(B)/sddf/serial/loader.img)' \
	$(foreach s,$(SDDF_NETS),$(if $(filter net,$(s)),NET,PLANTED)_QEMU='$(subst $(comma)sleep=off,,$(call boot,$(B)/sddf/$(s)/loader.img)) \
	    -global virtio-mmio.force-legacy=false') tests/sel4/sddf
endif
