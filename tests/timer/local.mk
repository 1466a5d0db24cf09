# SPDX-License-Identifier: MIT

# Calendar, zones and timestamps. What needs the zone database skips itself without it; the
# sampled ones take all with SUPD_TEST_FULL=1.
expression_sources = tests/oracle/expressions.c tests/oracle/expressions.h
zone_file_sources = %D%/zone_files.c %D%/zone_files.h
TIMER_TEST_LIBS = $(TEST_LIBS) $(TIMER_LIBS)

check_PROGRAMS += %D%/test_calendar %D%/test_calendar_dst %D%/test_timestamp %D%/test_zone \
	%D%/test_zone_libc %D%/test_zone_load
TESTS += %D%/test_calendar %D%/test_calendar_dst %D%/test_timestamp %D%/test_zone \
	%D%/test_zone_libc %D%/test_zone_load
%C%_test_calendar_SOURCES = %D%/test_calendar.c $(expression_sources)
%C%_test_calendar_LDADD = $(TIMER_TEST_LIBS)
%C%_test_calendar_dst_SOURCES = %D%/test_calendar_dst.c $(expression_sources) $(zone_file_sources)
%C%_test_calendar_dst_LDADD = $(TIMER_TEST_LIBS)
%C%_test_timestamp_LDADD = $(TIMER_TEST_LIBS)
%C%_test_zone_LDADD = $(TIMER_TEST_LIBS)
%C%_test_zone_libc_SOURCES = %D%/test_zone_libc.c $(zone_file_sources)
%C%_test_zone_libc_LDADD = $(TIMER_TEST_LIBS)
%C%_test_zone_load_LDADD = $(TIMER_TEST_LIBS)

# The rules.
%C%_test_fsm_SOURCES = %D%/test_fsm.c %D%/fsm_script.c %D%/fsm_script.h
%C%_test_fsm_LDADD = $(TIMER_TEST_LIBS)
%C%_test_fsm_skip_SOURCES = %D%/test_fsm_skip.c %D%/fsm_script.c %D%/fsm_script.h
%C%_test_fsm_skip_LDADD = $(TIMER_TEST_LIBS)
check_PROGRAMS += %D%/test_fsm %D%/test_fsm_skip
TESTS += %D%/test_fsm %D%/test_fsm_skip

# What is kept of a timer.
%C%_test_memory_LDADD = $(TIMER_TEST_LIBS)
%C%_test_state_file_LDADD = $(TIMER_TEST_LIBS)
check_PROGRAMS += %D%/test_memory %D%/test_state_file
TESTS += %D%/test_memory %D%/test_state_file

# What is told of a timer.
%C%_test_recent_LDADD = $(TIMER_TEST_LIBS)
check_PROGRAMS += %D%/test_recent
TESTS += %D%/test_recent

# What a file means, and when that elapses.
%C%_test_schedule_LDADD = $(TIMER_TEST_LIBS)
%C%_test_spec_LDADD = $(TIMER_TEST_LIBS)
check_PROGRAMS += %D%/test_schedule %D%/test_spec
TESTS += %D%/test_schedule %D%/test_spec
