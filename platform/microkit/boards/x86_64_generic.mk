# SPDX-License-Identifier: BSD-2-Clause
# A PC as QEMU's q35, one core. Only `-e timer`: there is no kernel hook for x86-64. The devices are COM1, the HPET and the
# real-time clock. Interrupts are pins of the IOAPIC. The clock of samples is the HPET, which only the profiler PD can read.

ifneq ($(filter smp-%,$(MICROKIT_CONFIG)),)
$(error $(MICROKIT_BOARD): mkperf is for one core: MICROKIT_CONFIG=release or debug, not $(MICROKIT_CONFIG))
endif
BOARD_UART_DRIVER := ns16550_uart
BOARD_UART_BASE := 0x3f8
BOARD_UART_IRQ := 4
BOARD_PMU_IRQ := none
# Devices below 64 KiB are ports (scripts/make-system).
BOARD_IO_PORTS := yes
BOARD_TIMER := hpet
BOARD_TIMER_BASE := 0xfed00000
# The pins from 16 on are the PCI bus's, so a PC's devices may use them too. QEMU's do not use this one.
BOARD_TIMER_IRQ := 20
BOARD_TICK := pd/net/tick_rtc.c
BOARD_PACER_BASE := 0x70
BOARD_PACER_IRQ := 8
BOARD_CFLAGS := -DMKPERF_HPET_PIN=$(BOARD_TIMER_IRQ)
# libmicrokit's entry does not say that it needs no executable stack, and the linker warns.
BOARD_LDFLAGS := -Wl,-z,noexecstack
# Boots $(IMAGE), serial port left to the caller. QEMU takes the kernel as an ELF of 32 bits only.
MICROKIT_QEMU ?= qemu-system-x86_64
BOARD_QEMU = $(MICROKIT_QEMU) -machine q35 -cpu qemu64,+fsgsbase,+pdpe1gb,+xsaveopt,+xsave -m size=1G -display none \
    -monitor none -nodefaults -rtc clock=vm -icount shift=1,sleep=off -kernel $(dir $(MICROKIT_KERNEL))sel4_32.elf -initrd $(IMAGE)
