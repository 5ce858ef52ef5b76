# SPDX-License-Identifier: BSD-2-Clause
# mkperf's own protection domains. How one is compiled and linked is in rules.mk.

# What each of the two PDs is made of.
TARGET_LIB_SRC := pd/lib/string.c pd/lib/text.c $(if $(filter riscv64,$(ARCH)),pd/lib/bits.c)
# A PD's stack has 4 KiB by default in Microkit 2.0.
$(TARGET_OBJ)/pd/%.o: TARGET_CFLAGS += -Wframe-larger-than=1024
# The back-end for the CPU's counters: pd/pmu/NAME.c, which has struct mkperf_pmu mkperf_NAME.
PMU_aarch64 := armv8_pmuv3
PMU_riscv64 := riscv_sscofpmf
PMU_x86_64 := no_pmu
MKPERF_PMU ?= $(PMU_$(ARCH))
TARGET_CFLAGS += -DMKPERF_PMU=mkperf_$(MKPERF_PMU)
# MKPERF_TIMER: the timer's back-end, chosen by the platform or the board (PROFILER_TIMER), if it has one.
TIMER_SRC_aarch64 := $(addprefix pd/timer/,generic_timer.c imx_gpt.c) \
                     $(filter-out pd/pmu/armv8_pmuv3.c,$(wildcard pd/pmu/armv8_*.c))
TIMER_SRC_riscv64 := pd/timer/no_timer.c
TIMER_SRC_x86_64 := pd/timer/hpet.c
# *_reserved.c: what `mkperf stamp` writes into the ELF. An object of its own, so that no compiler takes its present value for granted.
PROFILER_SRC := $(call target_unit,pd/profiler,$(filter-out %_reserved.c,$(wildcard pd/profiler/*.c))) pd/profiler/unwind_reserved.c \
                $(call target_unit,pd/profiler/timer,$(wildcard pd/profiler/timer/*.c)) pd/pmu/$(MKPERF_PMU).c $(TARGET_LIB_SRC) \
                $(TIMER_SRC_$(ARCH))
# In one unit, the compiler would copy functions into their callers that are not declared inline: 2.5 KB of code.
$(TARGET_OBJ)/pd/profiler.o: private TARGET_CFLAGS += -fno-inline-functions
$(TARGET_OBJ)/pd/profiler/timer.o: private TARGET_CFLAGS += $(PROFILER_TIMER:%=-DMKPERF_TIMER=mkperf_%)
$(TARGET_OBJ)/pd/timer/%.o: private TARGET_CFLAGS += $(PROFILER_TIMER_CFLAGS)
# Without the link layer, which each client has its own of.
CLIENT_COMMON_SRC := $(call target_unit,pd/client,$(filter-out %/serial.c %/uart_line.c %_reserved.c,$(wildcard pd/client/*.c))) \
                     pd/client/stamp_reserved.c $(B)/key/key.c $(PROTO_SRC) $(NANOPB_SRC) $(MBEDTLS_SRC) $(TARGET_LIB_SRC)
# The driver of UARTs. The platform or the board names its own (MKPERF_UART).
CLIENT_UARTS := pd/client/uart_line.c
CLIENT_SRC := pd/client/serial.c $(CLIENT_UARTS) $(CLIENT_COMMON_SRC)

# MKPERF_KEY_FILE: 64 hexadecimal digits, the key that hosts have to have. Without it: none needed.
KEY_PROBLEM := $(shell scripts/key-source $(B)/key/key.c $(MKPERF_KEY_FILE) 2>&1)
ifneq ($(KEY_PROBLEM),)
$(error $(KEY_PROBLEM))
endif

# The client tells the host where it runs.
$(TARGET_OBJ)/pd/client.o: private TARGET_CFLAGS += \
    -DMKPERF_PLATFORM='"$(if $(MICROKIT_SDK),microkit,pocket)"' \
    $(CLOCK_CFLAGS)

$(call pd,$(DEMO)/profiler.elf,$(PROFILER_SRC))
$(call pd,$(DEMO)/client.elf,$(CLIENT_SRC))
# The same for systems that are not mkperf's own, which may have a client.elf themselves.
$(DEMO)/mkperf_%.elf: $(DEMO)/%.elf
	$(Q)cp $< $@

# Tested on the host: everything without registers and without a platform.
HOSTED_SRC += pd/lib/text.c pd/pmu/armv8_events.c pd/pmu/riscv_sscofpmf.c pd/profiler/policy.c \
              pd/profiler/plan.c pd/profiler/request.c pd/profiler/event_names.c pd/client/encode.c pd/client/encode_batch.c pd/client/periods.c pd/client/sched.c pd/client/wire_frames.c pd/client/link.c \
              $(addprefix pd/client/,control.c report.c connections.c stream.c command.c mark.c \
              session.c) pd/profiler/timer/attribute.c pd/profiler/latency.c pd/profiler/unwind_load.c pd/profiler/unwind_reserved.c

# The whole profiler PD against a mocked Microkit, with the kernel's hook in the same program.
$(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_hook*.c tests/unit/test_callers.c tests/unit/test_unwind.c tests/unit/test_sched.c tests/unit/test_sched_merge.c tests/unit/test_session*.c tests/unit/test_pmu*.c)): private HOST_CFLAGS += -Itests/unit/mock -Ikernel
