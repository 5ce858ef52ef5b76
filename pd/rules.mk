# SPDX-License-Identifier: BSD-2-Clause
# How protection domains, system descriptions and images are made. Each function below is called for its
# rules, at the top level of a makefile: $(call pd,...). It expands to nothing.
#
# The platform's settings (platform/*/settings.mk) come first. They set PLATFORM_CFLAGS,
# PLATFORM_LDFLAGS (linker script), PLATFORM_LIBS (libmicrokit), PLATFORM_READY (files that must exist
# before a PD is linked), PLATFORM_CLOCK and PLATFORM_CLOCK_HZ, SYSTEM_VALUES, image_name and image_rules.

TARGET_OBJ := $(T)/obj/target
CLOCK_CFLAGS := $(PLATFORM_CLOCK:%=-DMKPERF_CLOCK=%) $(PLATFORM_CLOCK_HZ:%=-DMKPERF_CLOCK_HZ=%)
target_objects = $(patsubst %.c,$(TARGET_OBJ)/%.o,$(patsubst %.S,$(TARGET_OBJ)/%.o,\
                 $(patsubst $(B)/%,gen/%,$(1:$(TARGET_UNIT)/%=%))))

# $(call target_unit,NAME,SOURCES): these sources are compiled as one, into the object NAME.o. Its place is used as any source.
TARGET_UNIT := $(T)/unit
target_unit = $(call unit,$(TARGET_UNIT)/$(1).c,$(2))$(TARGET_UNIT)/$(1).c

target_cc = $(TARGET_CC) $(TARGET_CFLAGS) $(PLATFORM_CFLAGS) -MMD -MP -c $< -o $@
target_link = $(TARGET_CC) -nostdlib -static -no-pie -Wl,--gc-sections -Wl,--build-id \
              -Wl,-z,max-page-size=4096 $(PLATFORM_LDFLAGS) $(filter %.o,$^) $(PLATFORM_LIBS) -lgcc -o $@ $(TARGET_LINKED)

$(TARGET_OBJ)/%.o: %.c $(PROTO_READY) | $(SETUP)
	$(call say,target,the protection domains)
	$(into)
	$(Q)$(target_cc)
$(TARGET_OBJ)/%.o: $(TARGET_UNIT)/%.c $(PROTO_READY) | $(SETUP)
	$(call say,target,the protection domains)
	$(into)
	$(Q)$(target_cc) $(UNIT_CFLAGS)
$(TARGET_OBJ)/%.o: %.S | $(SETUP)
	$(call say,target,the protection domains)
	$(into)
	$(Q)$(target_cc)
# Warnings in nanopb and lwIP are not ours to fix.
$(TARGET_OBJ)/gen/%.o: $(TARGET_UNIT)/gen/%.c $(PROTO_READY) | $(SETUP)
	$(call say,target,the protection domains)
	$(into)
	$(Q)$(target_cc) -I. $(UNIT_CFLAGS) -w
$(TARGET_OBJ)/gen/%.o: $(B)/%.c $(PROTO_READY) | $(SETUP)
	$(call say,target,the protection domains)
	$(into)
	$(Q)$(target_cc) -I. -w

# $(call elves,DIR,NAMES): DIR/NAME.elf for each
elves = $(patsubst %,$(1)/%.elf,$(2))

# $(call pd,ELF,SOURCES): the PD's ELF is linked from SOURCES.
define pd_rules
$(1): $(call target_objects,$(2)) $(PLATFORM_READY)
	$$(into)
	$$(Q)$$(target_link)
endef
pd = $(eval $(call pd_rules,$(1),$(2)))

# $(call copies,DIR,FROM,NAMES): each DIR/NAME.elf is a copy of FROM/NAME.elf.
define copies_rules
$(call elves,$(1),$(3)): $(1)/%.elf: $(2)/%.elf
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
endef
copies = $(eval $(call copies_rules,$(1),$(2),$(3)))

# $(call system,OUT,TEMPLATE,VALUES): the system description OUT is made from TEMPLATE with the
# platform's SYSTEM_VALUES and VALUES (NAME=VALUE ...).
define system_rules
$(1): $(2) scripts/make-system
	$$(Q)mkdir -p $$(@D) && scripts/make-system $(2) $(SYSTEM_VALUES) $(3) >$$@
endef
system = $(eval $(call system_rules,$(1),$(2),$(3)))

# $(call stamp_client,DIR,SYSTEM,ELFDIR,KERNEL,ELFS): the first line of image_rules' recipe. The client PD among
# ELFS gets the list of the image's programs; its changed copy is in DIR, which the packer searches first.
# STAMP_QUEUES, of one image: the file that describes its queues.
stamp_client = $$(Q)rm -rf $(1)$(if $(filter client% mkperf_client%,$(notdir $(5))), && mkdir -p $(1) && $(B)/mkperf stamp -q \
    $$(if $$(STAMP_QUEUES),--queues $$(STAMP_QUEUES)) $(2) --elf-path $(3) --kernel $(4) \
    -o $(1)/$(filter client% mkperf_client%,$(notdir $(5))))

# $(call image,IMAGE,SYSTEM,ELFDIR,NAMES): packs SYSTEM, whose programs are ELFDIR/NAME.elf.
image = $(eval $(call image_rules,$(1),$(2),$(3),$(call elves,$(3),$(4))))

# $(call program_system,DIR,NAME,SOURCES): DIR/NAME/ gets the system tests/pd/NAME.system.in, whose one
# program, NAME.elf, is made from SOURCES, and its image.
program_system = $(call pd,$(1)/$(2)/$(2).elf,$(3))\
    $(call copies,$(1)/$(2),$(DEMO),profiler client)\
    $(call system,$(1)/$(2)/$(2).system,tests/pd/$(2).system.in)\
    $(call image,$(1)/$(2)/$(call image_name,$(2)),$(1)/$(2)/$(2).system,$(1)/$(2),profiler client $(2))
