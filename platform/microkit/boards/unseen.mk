# SPDX-License-Identifier: BSD-2-Clause
# Boards on which mkperf has not been seen, neither on hardware nor in an emulator. For those whose UART has
# a driver here, mkperf's PDs can be built for another system (mkperf.mk); not the demo, which
# needs a timer device. For the others the client PD is sDDF's client: `make sddf-pds SDDF=...`.
#
# Interrupts and addresses are those of seL4 16.0.0's device trees (tools/dts). The UART is the kernel's
# console ("seL4,kernel-devices" in src/plat/*/overlay-*.dts). A shared interrupt is numbered from 32, a
# core's own from 16. The PMU's interrupt is the first core's: build the kernel with
# -DKernelMkperfIRQ=<it> if that is not 23.

# $(call unseen,BOARDS,CPU,PMU-IRQ,UART,UART-BASE,UART-IRQ), without the last two: it has no driver
unseen = $(foreach b,$(1),$(eval UNSEEN_$(b) := $(2) $(3) $(4) $(5) $(6)))

$(call unseen,imx8mq_evk maaxboard,cortex-a53,23,imx_uart,0x30860000,58)
$(call unseen,imx8mp_evk imx8mp_iotgate,cortex-a53,23,imx_uart,0x30890000,59)
$(call unseen,tqma8xqp1gb,cortex-a35,23,lpuart)
$(call unseen,rockpro64,cortex-a53,23,8250)
$(call unseen,rock3b,cortex-a55,260,8250)
$(call unseen,rpi4b_1gb rpi4b_2gb rpi4b_4gb rpi4b_8gb,cortex-a72,48,bcm2835-aux)
$(call unseen,zcu102 kria_k26 ultra96v2,cortex-a53,175,cadence)
$(call unseen,stm32mp2,cortex-a35,400,stm32)
$(call unseen,odroidc2,cortex-a53,169,meson)
UNSEEN := $(sort $(patsubst UNSEEN_%,%,$(filter UNSEEN_%,$(.VARIABLES))))

# The settings of a row, for BOARD_MK.
unseen_board := $(UNSEEN_$(MICROKIT_BOARD))
