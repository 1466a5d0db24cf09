#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pure half asks the system for nothing: no file, process, clock, environment or chance. Seen
# in what its objects leave undefined.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
NM=${NM:-nm}
cd "$TOP_BUILDDIR" || exit 1

files='open open64 openat openat64 openat2 creat creat64 fopen fopen64 freopen freopen64 fdopen
	read write pread pwrite readv writev unlink unlinkat rename renameat renameat2 mkdir mkdirat
	mkstemp mkstemp64 opendir fdopendir readdir readdir64 stat stat64 fstat fstat64 fstatat
	fstatat64 lstat lstat64 statx access faccessat realpath chdir socket connect bind ioctl mmap'
processes='fork vfork _Fork clone clone3 execve execv execvp execl execlp execle execvpe fexecve
	posix_spawn posix_spawnp system popen wait waitpid waitid wait4 kill killpg raise pidfd_open
	pidfd_send_signal signal sigaction _exit pthread_create syscall dlopen dlsym'
clocks='clock_gettime time gettimeofday clock timespec_get sleep usleep nanosleep clock_nanosleep
	alarm setitimer timerfd_create localtime localtime_r mktime tzset strftime ctime ctime_r'
chance='rand rand_r random random_r srand srandom drand48 lrand48 getrandom getentropy arc4random'
surroundings='getenv secure_getenv setenv putenv unsetenv environ getuid geteuid getpid getppid
	gethostname getpwnam getpwnam_r getpwuid getpwuid_r getgrnam getgrnam_r setlocale'
output='printf vprintf puts putchar fputs_stdout perror syslog vsyslog __printf_chk __vprintf_chk'

# uthash ends the program when memory is out: exit() is not on the list.

# Objects that touch the system by design, with what they may use.
#	log: the daemon's and supctl's sink.      cleanup: closes what others opened.
#	zone_load: reads TZif files for its caller.
outer='log.o cleanup.o zone_load.o timer_plugin.o'

undefined() { # LIBRARY
	$NM -A --undefined-only "$1" 2>/dev/null | sed -E 's/^[^:]*:([^:]*):.* ([^ ]+)$/\1 \2/; s/@.*//'
}

impure() { # LIBRARY
	undefined "$1" | awk -v outer="$outer" \
		-v bad="$files $processes $clocks $chance $surroundings $output" '
		BEGIN { n = split(outer, o, " "); for (i = 1; i <= n; i++) is_outer[o[i]] = 1
			n = split(bad, b, /[ \t\n]+/); for (i = 1; i <= n; i++) is_bad[b[i]] = 1 }
		!($1 in is_outer) && ($2 in is_bad) { print $1 " uses " $2 "()" }'
}

libraries='libbase.a libunit.a libservice.a libcore.a'
[ "${ENABLE_TIMER:-yes}" != yes ] || libraries="$libraries libtimer.a"
for library in $libraries; do
	ok "$library is there" test -s "$library"
	empty "$library asks the system for nothing" "$(impure "$library")"
done
done_testing
