# SPDX-License-Identifier: BSD-2-Clause
# pocket, the built-in platform: what the rest of the build reads of it (pd/rules.mk). Its own rules are in
# build.mk.

POCKET := platform/pocket
include $(POCKET)/qemu.mk

PLATFORM_CFLAGS := -I$(POCKET)/include
PLATFORM_LDFLAGS := -T $(POCKET)/lib/pd.ld
PLATFORM_LIBS := $(T)/pocket/libmicrokit.a
PLATFORM_READY := $(PLATFORM_LIBS) $(POCKET)/lib/pd.ld
# QEMU's virt machine
include $(POCKET)/$(ARCH).mk

# Images, and the command that boots DIR/NAME.img of the directory's name as DIR/qemu-command. The serial
# port is left to the caller. The clock that the pacer reads follows the machine's time, not the host's.
# QEMU_SMP, of one qemu-command: how many cores its machine has.
POCKET_KERNEL := $(DEMO)/kernel.elf
image_name = $(1).img
define image_rules
$(1): $(2) $(4) $(POCKET_KERNEL) $(B)/pocket-pack | $(B)/mkperf
	$(call stamp_client,$(1:.img=.stamped),$(2),$(3),$(POCKET_KERNEL),$(4))
	$$(Q)$(B)/pocket-pack $(2) --elf-path $(1:.img=.stamped):$(3) --kernel $(POCKET_KERNEL) -o $$@
endef
POCKET_QEMU = $(QEMU)
POCKET_MAKEFILES := $(MAKEFILE_LIST)
%/qemu-command: $(POCKET_MAKEFILES)
	$(Q)mkdir -p $(@D) && echo '$(POCKET_QEMU) $(@D)/$(notdir $(@D)).img -rtc clock=vm $(if $(QEMU_SMP),-smp $(QEMU_SMP) )$(POCKET_QEMU_DEVICES)' >$@

# $(call network_machine,DIR): boots DIR's image with virtio network devices. Its peers live in real time, so
# an idle machine waits for real time. Which ports of the host it gets is the caller's choice ($NET).
define network_machine_rules
$(1)/qemu-command: private POCKET_QEMU = $$(subst $$(comma)sleep=off,,$$(QEMU))
$(1)/qemu-command: private POCKET_QEMU_DEVICES = -global virtio-mmio.force-legacy=false
endef
network_machine = $(eval $(call network_machine_rules,$(1)))

# $(call bootable,DIRS): their images and the commands that boot them
bootable = $(foreach d,$(1),$(d)/$(notdir $(d)).img $(d)/qemu-command)
