# SPDX-License-Identifier: BSD-2-Clause
# $(QEMU) IMAGE [-serial ...] boots an image of pocket's. One instruction is one nanosecond there,
# and a run is the same each time. The serial port is left to the caller.

QEMU := qemu-system-aarch64 -machine virt -cpu cortex-a53 -m 256M -display none -monitor none \
        -nodefaults -icount shift=0,sleep=off -kernel
