# SPDX-License-Identifier: MIT
# Real systemd as the oracle; `make check` asks it a little, `make oracle` a lot. Without
# systemd-analyze both skip themselves.
if TIMER
oracle_programs = %D%/oracle_calendar %D%/oracle_time
oracle_tests = tests/timer/test_calendar_dst tests/timer/test_zone_libc
check_PROGRAMS += $(oracle_programs)
TESTS += $(oracle_programs)

oracle_common = %D%/expressions.c %D%/expressions.h %D%/systemd_analyze.c %D%/systemd_analyze.h
%C%_oracle_calendar_SOURCES = %D%/oracle_calendar.c $(oracle_common)
%C%_oracle_calendar_LDADD = $(TIMER_LIBS)
%C%_oracle_time_SOURCES = %D%/oracle_time.c $(oracle_common)
%C%_oracle_time_LDADD = $(TIMER_LIBS)
endif

check_PROGRAMS += %D%/oracle_escape
TESTS += %D%/oracle_escape
%C%_oracle_escape_SOURCES = %D%/oracle_escape.c %D%/systemd_analyze.c %D%/systemd_analyze.h
%C%_oracle_escape_LDADD = $(SERVICE_LIBS)

.PHONY: oracle
oracle: $(oracle_programs) $(oracle_tests) %D%/oracle_escape
	$(AM_V_at)set -e; seed=$${ORACLE_SEED:-$$(date +%s)}; export ORACLE_SEED=$$seed; \
	test -z '$(oracle_programs)' || \
	ORACLE_COUNT=$${ORACLE_COUNT:-200000} tests/oracle/oracle_calendar; \
	test -z '$(oracle_programs)' || ORACLE_COUNT=10000 tests/oracle/oracle_time; \
	ORACLE_COUNT=100000 tests/oracle/oracle_escape; \
	for p in $(oracle_tests); do SUPD_TEST_FULL=1 ./$$p; done
