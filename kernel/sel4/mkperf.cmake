# SPDX-License-Identifier: BSD-2-Clause
# Included by a patched seL4's config.cmake with KernelMkperf: the interrupt, and what is compiled.
# RISC-V's has no number: one that no device has stands for it, on QEMU's virt machine the last.
set(mkperf_irq 23)
if(KernelArchRiscV)
    set(mkperf_irq "")
    if(KernelPlatformQEMURiscVVirt)
        set(mkperf_irq 95)
    endif()
    if(NOT mkperf_irq AND NOT KernelMkperfIRQ)
        message(FATAL_ERROR "KernelMkperf: set KernelMkperfIRQ to an interrupt that no device of the board has")
    endif()
    if(KernelMaxNumNodes GREATER 1)
        message(FATAL_ERROR "KernelMkperf: on RISC-V the hook is for kernels of one core (KernelMaxNumNodes)")
    endif()
endif()
config_string(
    KernelMkperfIRQ MKPERF_IRQ "Interrupt of the PMU that mkperf's hook answers."
    DEFAULT ${mkperf_irq}
    UNQUOTE
)
set(mkperf_qemu OFF)
if(KernelPlatformQEMUArmVirt)
    set(mkperf_qemu ON)
endif()
config_option(
    KernelMkperfQEMU MKPERF_QEMU
    "mkperf: for a kernel that runs in QEMU, which loses overflows of counters."
    DEFAULT ${mkperf_qemu}
    DEPENDS "KernelArchARM"
)
get_filename_component(mkperf_dir "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(RELATIVE_PATH mkperf_relative "${CMAKE_CURRENT_SOURCE_DIR}" "${mkperf_dir}")
add_sources(
    PREFIX ${mkperf_relative}
    CFILES
        capture.c
        counted.c
        request.c
        sched.c
        unwind_walk.c
        words.c
        sel4/entries.c
        sel4/memory.c
        sel4/mkperf.c
        sel4/switches.c
)
if(KernelArchRiscV)
    add_sources(PREFIX ${mkperf_relative} CFILES sel4/riscv.c ASMFILES sel4/riscv_vectors.S)
else()
    add_sources(PREFIX ${mkperf_relative} CFILES sel4/arm.c ASMFILES sel4/vectors.S)
endif()
if(KernelArmHypervisorSupport)
    add_sources(PREFIX ${mkperf_relative} CFILES sel4/guest.c)
endif()
if(KernelMkperfQEMU)
    add_sources(PREFIX ${mkperf_relative} CFILES sel4/qemu.c)
endif()
include_directories(
    ${mkperf_dir}/../include
    ${mkperf_dir}
    ${mkperf_dir}/sel4
    ${mkperf_dir}/sel4/include
)
