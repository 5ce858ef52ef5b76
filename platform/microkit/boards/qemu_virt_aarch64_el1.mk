# SPDX-License-Identifier: BSD-2-Clause
# QEMU's virt machine with the kernel at EL1 (Microkit 2.3). It is booted at EL2 all the same: the loader
# of 2.3.0 goes down to EL1 itself, and its PSCI calls trap on a machine without EL2.

include platform/microkit/boards/qemu_virt_aarch64.mk
