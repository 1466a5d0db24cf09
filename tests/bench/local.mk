# SPDX-License-Identifier: MIT
bench_programs =
EXTRA_PROGRAMS += $(bench_programs)

.PHONY: bench
bench: $(bench_programs)
	$(AM_V_at)set -e; for p in $(bench_programs); do ./$$p; done

if TIMER
bench_programs += %D%/bench_calendar
%C%_bench_calendar_LDADD = $(TIMER_LIBS)
endif
