# SPDX-License-Identifier: MIT
bench_programs =
bench_helpers =
EXTRA_PROGRAMS += $(bench_programs) $(bench_helpers)

.PHONY: bench
bench: $(bench_programs) $(bench_helpers) all-am
	$(AM_V_at)set -e; for p in $(bench_programs); do ./$$p; done

bench_programs += %D%/bench_history
%C%_bench_history_LDADD = $(RUN_LIBS)

if TIMER
bench_programs += %D%/bench_calendar %D%/bench_daemon %D%/bench_services
%C%_bench_calendar_LDADD = $(TIMER_LIBS)
%C%_bench_daemon_SOURCES = %D%/bench_daemon.c %D%/bench_tools.c %D%/bench_tools.h
%C%_bench_daemon_LDADD =
%C%_bench_services_SOURCES = %D%/bench_services.c %D%/bench_tools.c %D%/bench_tools.h
%C%_bench_services_LDADD = $(CONTROL_LIBS)
# Static where libc can be had that way: less to load, and so less that is not ours in what is measured.
bench_helpers += %D%/probe
%C%_probe_LDADD =
%C%_probe_LDFLAGS = -all-static -no-pie
# … and without libc's start, where it is known how.
bench_helpers += %D%/probe_bare
%C%_probe_bare_SOURCES = %D%/probe.c
%C%_probe_bare_LDADD =
%C%_probe_bare_LDFLAGS = -all-static -no-pie
if PROBE_CAN_BE_BARE
%C%_probe_bare_CPPFLAGS = $(AM_CPPFLAGS) -DPROBE_IS_BARE
%C%_probe_bare_CFLAGS = $(AM_CFLAGS) -fno-stack-protector
%C%_probe_bare_LDFLAGS += -nostartfiles
endif
endif
