/* SPDX-License-Identifier: MIT */
#include "run/clone_into.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>

/* libc has no clone3(), and through syscall() it cannot be called: parent and child would return on
 * different stacks. */

#if defined(SYS_clone3) && defined(CLONE_INTO_CGROUP) && defined(__x86_64__) && defined(__LP64__)

static long call_on_stack(struct clone_args *args, int (*fn)(void *userdata), void *userdata)
{
	register int (*in_child)(void *) __asm__("r8") = fn;
	register void *argument __asm__("r9") = userdata;
	long r = SYS_clone3;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov %[argument], %%rdi\n\t"
			 "call *%[fn]\n\t"
			 "hlt\n"
			 "1:"
			 : "+a"(r)
			 : "D"(args),
			   "S"(sizeof(*args)), [fn] "r"(in_child), [argument] "r"(argument)
			 : "rcx", "r11", "cc", "memory");
	return r;
}

#elif defined(SYS_clone3) && defined(CLONE_INTO_CGROUP) && defined(__aarch64__) && defined(__LP64__)

static long call_on_stack(struct clone_args *args, int (*fn)(void *userdata), void *userdata)
{
	register long r __asm__("x0") = (long) args;
	register size_t size __asm__("x1") = sizeof(*args);
	register int (*in_child)(void *) __asm__("x2") = fn;
	register void *argument __asm__("x3") = userdata;
	register long number __asm__("x8") = SYS_clone3;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x0, %[argument]\n\t"
			 "blr %[fn]\n\t"
			 "brk #0\n"
			 "1:"
			 : "+r"(r)
			 : "r"(size), "r"(number), [fn] "r"(in_child), [argument] "r"(argument)
			 : "cc", "memory");
	return r;
}

#else
#define IS_UNKNOWN_HERE
#endif

#ifdef IS_UNKNOWN_HERE

pid_t clone_into_cgroup(int cgroup, int (*fn)(void *userdata), void *userdata, void *stack,
			size_t stack_size, uint64_t flags, pid_t *child_tid, int *pidfd)
{
	(void) cgroup;
	(void) fn;
	(void) userdata;
	(void) stack;
	(void) stack_size;
	(void) flags;
	(void) child_tid;
	(void) pidfd;
	errno = ENOSYS;
	return -1;
}

#else

pid_t clone_into_cgroup(int cgroup, int (*fn)(void *userdata), void *userdata, void *stack,
			size_t stack_size, uint64_t flags, pid_t *child_tid, int *pidfd)
{
	struct clone_args args = {
		.flags = flags | CLONE_INTO_CGROUP,
		.pidfd = (uintptr_t) pidfd,
		.child_tid = (uintptr_t) child_tid,
		.exit_signal = SIGCHLD,
		.stack = (uintptr_t) stack,
		.stack_size = stack_size,
		.cgroup = (uint64_t) cgroup,
	};
	long r = call_on_stack(&args, fn, userdata);

	if (r >= 0)
		return (pid_t) r;
	errno = (int) -r;
	return -1;
}

#endif
