/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of the second copies of the kernel's entries, which are compiled from its own sources
 * (vectors.S, entries.c). Included a second time, the names mean the originals again.
 */
#ifndef c_handle_syscall
#define c_handle_syscall mkperf_c_handle_syscall
#define c_handle_fastpath_call mkperf_c_handle_fastpath_call
#define c_handle_fastpath_reply_recv mkperf_c_handle_fastpath_reply_recv
#define c_handle_fastpath_signal mkperf_c_handle_fastpath_signal
#define c_handle_interrupt mkperf_c_handle_interrupt
#define c_handle_undefined_instruction mkperf_c_handle_undefined_instruction
#define c_handle_data_fault mkperf_c_handle_data_fault
#define c_handle_instruction_fault mkperf_c_handle_instruction_fault
#define c_handle_vm_fault mkperf_c_handle_vm_fault
#define c_handle_vcpu_fault mkperf_c_handle_vcpu_fault
#define c_handle_enfp mkperf_c_handle_enfp
#define c_handle_exception mkperf_c_handle_exception
#else
#undef c_handle_syscall
#undef c_handle_fastpath_call
#undef c_handle_fastpath_reply_recv
#undef c_handle_fastpath_signal
#undef c_handle_interrupt
#undef c_handle_undefined_instruction
#undef c_handle_data_fault
#undef c_handle_instruction_fault
#undef c_handle_vm_fault
#undef c_handle_vcpu_fault
#undef c_handle_enfp
#undef c_handle_exception
#endif
