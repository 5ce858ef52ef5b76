# SPDX-License-Identifier: BSD-2-Clause
# mkperf: one non-recursive build. Each directory's build.mk adds its rules.
#
#   make demo      profile the demo system in QEMU, show it        (DEMO_SECONDS, default 1)
#   make test      everything that is checked             make test-quick   unit tests, checks of text, the demo
#   make fuzz      the fuzz targets for HOURS, make fuzz-coverage what they reach (tests/fuzz/build.mk)
#   make bench     the figures of docs/verification.md in 3 minutes, compared with bench/figures.json;
#                  SECTIONS=all or SECTIONS="rates echo": in full, KEEP=1: keep the new ones
#   make pictures  those of docs/viewers.md and docs/example.html, made again; make example: only the latter;
#                  make demo-page: the output in docs/demo.md
#   make host      build/mkperf                make target    the PDs and the demo's image
#   make ARCH=riscv64 ...   demo, target and single images for RISC-V, on the built-in platform, in BUILD_DIR/riscv64
#   make install   mkperf, its man pages and completion, and what systems include, into DESTDIR/PREFIX
#   make clean
#
# SETUP_PACKAGES=no: install no packages; what is missing is named before anything is compiled.
# MKPERF_ASSERT=yes: mkperf checks its internal invariants and aborts where one does not hold.
# SYSTEM_LIBS=yes: mkperf with the system's nanopb and mbed TLS (make host, packages).
#
# With MICROKIT_SDK, MICROKIT_BOARD and MICROKIT_CONFIG the target half is built for that Microkit
# SDK instead of the built-in platform, see docs/install.md.

BUILD_DIR ?= build
ifneq ($(words $(CURDIR) $(BUILD_DIR)),2)
$(error make cannot build where a path has a blank: $(CURDIR), BUILD_DIR=$(BUILD_DIR))
endif
# A directory below this one has one name, because the compilers' .d files name their objects as make did.
B := $(patsubst $(CURDIR)/%,%,$(BUILD_DIR))
# The target's architecture: aarch64 or riscv64, with a Microkit SDK that of the board, which may be x86_64, too. T: what is built for it. The host's half
# is one, in B.
ARCH ?= $(or $(if $(MICROKIT_SDK),$(shell sed -n '/define CONFIG_SEL4_ARCH  /{s/.* //p;q}' \
    $(MICROKIT_SDK)/board/$(MICROKIT_BOARD)/*/include/kernel/gen_config.h 2>/dev/null)),aarch64)
ifeq ($(filter aarch64 riscv64 $(if $(MICROKIT_SDK),x86_64),$(ARCH)),)
$(error ARCH=$(ARCH): mkperf is built for aarch64 and riscv64, and for Microkit's boards of x86_64)
endif
T := $(B)$(if $(MICROKIT_SDK),,$(ARCH:%=$(if $(filter-out aarch64,$(ARCH)),/%)))
DEMO := $(T)/demo
comma := ,
DEMO_SECONDS ?= 1

MAKEFLAGS += --no-builtin-rules
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

ifneq ($(V),1)
Q := @
endif

# $(call say,PART,WHAT): the first line of a recipe that is one of many. Prints WHAT once, when the first file of that
# part is made, so that a build of minutes is not silent; not with V=1 or make -s.
# $(into): another line of a recipe. It makes the target's directory.
# Both are done by make itself: as commands of a shell they took a tenth of the build's time.
SILENT := $(or $(filter 1,$(V)),$(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS)))))
say = $(if $(or $(SILENT),$(SAID_$(1))),,$(eval SAID_$(1) := 1)$(info $()  building $(2)))
into = $(if $(MADE_$(@D)),,$(eval MADE_$(@D) := 1)$(shell mkdir -p $(@D)))

# The unit of compilation is the folder: $(call unit,FILE,SOURCES) writes FILE, a line #include for each of SOURCES, unless it has
# these lines already. To compile each source by itself takes twice as long: the compiler starts for each, and reads the same headers.
# In a unit, two files must not use one static name for different things. UNIT_CFLAGS are the options with which units are compiled.
define newline


endef
hash := \#
unit_text = $(foreach s,$(sort $(1)),$(hash)include "$(s:$(B)/%=%)"$(newline))
unit_write = $(shell mkdir -p $(dir $(1)))$(file >$(1),$(call unit_text,$(2)))
same = $(and $(findstring [$(1)],[$(2)]),$(findstring [$(2)],[$(1)]))
define unit_rules
$(1): # after make clean in the same run
	$$(call unit_write,$(1),$(2))
endef
# Compared as words: GNU make 4.3 drops the file's last line break, or does not, by chance (its function `file`).
unit = $(if $(call same,$(strip $(call unit_text,$(2))),$(strip $(file <$(1)))),,$(call unit_write,$(1),$(2)))$(eval $(call unit_rules,$(1),$(2)))
UNIT_CFLAGS := -iquote . -iquote $(B) -ffile-prefix-map=./=

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef \
        -Wpointer-arith -Wcast-align -Wwrite-strings -Wvla -Wformat-security

HOST_CC ?= gcc
# -g1: functions, inlined ones as well, and lines; a tenth of the compiler's time less than -g.
PROTO_CFLAGS = -I$(B)/proto -I$(B)/src/nanopb $(MBEDTLS_CFLAGS)
HOST_CFLAGS = -std=c11 -O2 -g1 $(WARN) -D_GNU_SOURCE -Iinclude -Ihost $(PROTO_CFLAGS)

CROSS ?= $(ARCH)-linux-gnu-
TARGET_CC := $(CROSS)gcc
# -fomit-frame-pointer: chains of the PDs are found by tables (docs/install.md).
FRAME_CFLAGS ?= -fno-omit-frame-pointer
TARGET_CPU_aarch64 := -mcpu=cortex-a53 -mstrict-align
TARGET_CPU_riscv64 := -march=rv64gc -mabi=lp64d -mcmodel=medany -mstrict-align -fasynchronous-unwind-tables
# No register of which seL4 would have to keep a copy for each PD.
TARGET_CPU_x86_64 := -march=x86-64 -mgeneral-regs-only -fcf-protection=none
# perf takes RISC-V's mapping symbols for functions.
TARGET_LINKED = $(if $(filter riscv64,$(ARCH)),&& $(CROSS)objcopy -w -N '[$$][xd]*' $@)
TARGET_CFLAGS = -std=c11 -O2 -g1 $(WARN) $(TARGET_CPU_$(ARCH)) -ffreestanding -fno-stack-protector \
                 -fno-pic $(FRAME_CFLAGS) -fno-tree-loop-distribute-patterns \
                 -ffunction-sections -fdata-sections -Iinclude $(PROTO_CFLAGS)

.PHONY: all host target demo test test-quick bench install clean format pictures example demo-page
all: host target

# Everything that is built waits for the packages (order only: a second run does nothing).
# What is missing nevertheless is named, before anything is compiled.
GOALS := $(or $(MAKECMDGOALS),all)
NEEDS := $(or $(if $(filter test test-quick fuzz%,$(GOALS)),test),$(if $(filter-out all target host install% microkit-% clean,$(GOALS)),demo),\
         $(if $(filter-out host install install-host clean,$(GOALS)),build),host)
SETUP := $(T)/setup-$(NEEDS).stamp
$(T)/setup-%.stamp: scripts/packages scripts/setup scripts/check-depends
	$(Q)[ "$(SETUP_PACKAGES)" = no ] || ARCH=$(ARCH) scripts/setup $* || echo "setup: trying with what is here"
	$(Q)HOST_CC="$(HOST_CC)" CROSS="$(CROSS)" ARCH="$(ARCH)" SYSTEM_LIBS="$(SYSTEM_LIBS)" scripts/check-depends $*
	$(Q)mkdir -p $(@D) && touch $@

include proto/build.mk host/build.mk platform/qemu/build.mk
PLATFORM_DIR := platform/$(if $(MICROKIT_SDK),microkit,pocket)
include $(PLATFORM_DIR)/settings.mk pd/rules.mk pd/build.mk pd/net/build.mk demo/build.mk
include $(PLATFORM_DIR)/build.mk tests/build.mk bench/build.mk
include platform/microkit/check.mk platform/microkit/check_stock.mk

FORMATTED := $(wildcard include/mkperf/*.h kernel/*.[ch] kernel/*/*.[ch] pd/*/*.[ch] \
             pd/profiler/timer/*.[ch] pd/net/lwip/*.h pd/net/lwip/*/*.h \
             platform/*/*.[ch] platform/*/*/*.[ch] platform/*/*/*/*.[ch] host/*.[ch] host/*/*.[ch] demo/*.[ch] \
             tests/*/*.[ch] bench/*.[ch])
format: $(SETUP)
	clang-format -i $(FORMATTED)

# FIREFOX_PROFILER: a built front end of it.
pictures: host target $(B)/echo-load $(call bootable,$(TEST_PD)/late)
	$(Q)B=$(B) MKPERF=$(B)/mkperf scripts/pictures

example: host $(call bootable,$(TEST_PD)/late)
	$(Q)B=$(B) MKPERF=$(B)/mkperf scripts/pictures example

# The page ends with an excerpt of the output, between lines of ```.
demo-page:
	$(Q)$(MAKE) --no-print-directory demo >$(B)/demo.log
	$(Q){ sed '/^```$$/q' docs/demo.md; scripts/demo-excerpt $(B)/demo.log; echo '```'; } >$(B)/demo.md
	$(Q)cp $(B)/demo.md docs/demo.md

clean:
	rm -rf $(B)

-include $(shell find $(B) -path $(B)/src -prune -o -name '*.d' -print 2>/dev/null)
