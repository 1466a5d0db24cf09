# SPDX-License-Identifier: MIT
# fuzz_X.c is a libFuzzer target with its first inputs in corpus/X. `make check` runs those again
# (replay.c); `make fuzz` looks for new ones, in a build made for it:
#
#	../configure CC=clang CFLAGS='-g -O1 -fsanitize=fuzzer-no-link' --enable-sanitizers
#	make fuzz FUZZ_SECONDS=600
#
# What it finds stays in fuzz-corpus/X of the build directory.
fuzz_programs =
EXTRA_PROGRAMS += $(fuzz_programs)
FUZZ_FLAGS = -fsanitize=fuzzer
FUZZ_SECONDS = 60

.PHONY: fuzz
fuzz: $(fuzz_programs)
	$(AM_V_at)set -e; for p in $(fuzz_programs); do \
		name=$${p##*/fuzz_}; mkdir -p fuzz-corpus/$$name; \
		./$$p -max_total_time=$(FUZZ_SECONDS) fuzz-corpus/$$name $(srcdir)/%D%/corpus/$$name; \
	done

EXTRA_DIST += %D%/corpus
FUZZ_REPLAY = %D%/replay.c
check_PROGRAMS += %D%/replay_unit_reader
TESTS += %D%/replay_unit_reader
%C%_replay_unit_reader_SOURCES = %D%/fuzz_unit_reader.c $(FUZZ_REPLAY)
%C%_replay_unit_reader_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"unit_reader\"
%C%_replay_unit_reader_LDADD = $(TEST_LIBS) $(UNIT_LIBS)
fuzz_programs += %D%/fuzz_unit_reader
%C%_fuzz_unit_reader_SOURCES = %D%/fuzz_unit_reader.c
%C%_fuzz_unit_reader_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_unit_reader_LDADD = $(UNIT_LIBS)

check_PROGRAMS += %D%/replay_specifier
TESTS += %D%/replay_specifier
%C%_replay_specifier_SOURCES = %D%/fuzz_specifier.c $(FUZZ_REPLAY)
%C%_replay_specifier_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"specifier\"
%C%_replay_specifier_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
fuzz_programs += %D%/fuzz_specifier
%C%_fuzz_specifier_SOURCES = %D%/fuzz_specifier.c
%C%_fuzz_specifier_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_specifier_LDADD = $(SERVICE_LIBS)

check_PROGRAMS += %D%/replay_command
TESTS += %D%/replay_command
%C%_replay_command_SOURCES = %D%/fuzz_command.c $(FUZZ_REPLAY)
%C%_replay_command_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"command\"
%C%_replay_command_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
fuzz_programs += %D%/fuzz_command
%C%_fuzz_command_SOURCES = %D%/fuzz_command.c
%C%_fuzz_command_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_command_LDADD = $(SERVICE_LIBS)

check_PROGRAMS += %D%/replay_condition
TESTS += %D%/replay_condition
%C%_replay_condition_SOURCES = %D%/fuzz_condition.c $(FUZZ_REPLAY)
%C%_replay_condition_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"condition\"
%C%_replay_condition_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
fuzz_programs += %D%/fuzz_condition
%C%_fuzz_condition_SOURCES = %D%/fuzz_condition.c
%C%_fuzz_condition_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_condition_LDADD = $(SERVICE_LIBS)

check_PROGRAMS += %D%/replay_environment_file
TESTS += %D%/replay_environment_file
%C%_replay_environment_file_SOURCES = %D%/fuzz_environment_file.c $(FUZZ_REPLAY)
%C%_replay_environment_file_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"environment_file\"
%C%_replay_environment_file_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
fuzz_programs += %D%/fuzz_environment_file
%C%_fuzz_environment_file_SOURCES = %D%/fuzz_environment_file.c
%C%_fuzz_environment_file_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_environment_file_LDADD = $(SERVICE_LIBS)

check_PROGRAMS += %D%/replay_run_log
TESTS += %D%/replay_run_log
%C%_replay_run_log_SOURCES = %D%/fuzz_run_log.c $(FUZZ_REPLAY)
%C%_replay_run_log_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"run_log\"
%C%_replay_run_log_LDADD = $(TEST_LIBS) $(STORE_LIBS)
fuzz_programs += %D%/fuzz_run_log
%C%_fuzz_run_log_SOURCES = %D%/fuzz_run_log.c
%C%_fuzz_run_log_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_run_log_LDADD = $(STORE_LIBS)
check_PROGRAMS += %D%/replay_notify
TESTS += %D%/replay_notify
%C%_replay_notify_SOURCES = %D%/fuzz_notify.c $(FUZZ_REPLAY)
%C%_replay_notify_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"notify\"
%C%_replay_notify_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
fuzz_programs += %D%/fuzz_notify
%C%_fuzz_notify_SOURCES = %D%/fuzz_notify.c
%C%_fuzz_notify_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_notify_LDADD = $(SERVICE_LIBS)

check_PROGRAMS += %D%/replay_run_unit
TESTS += %D%/replay_run_unit
%C%_replay_run_unit_SOURCES = %D%/fuzz_run_unit.c $(FUZZ_REPLAY)
%C%_replay_run_unit_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"run_unit\"
%C%_replay_run_unit_LDADD = $(TEST_LIBS) libcli.a $(SERVICE_LIBS)
fuzz_programs += %D%/fuzz_run_unit
%C%_fuzz_run_unit_SOURCES = %D%/fuzz_run_unit.c
%C%_fuzz_run_unit_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_run_unit_LDADD = libcli.a $(SERVICE_LIBS)

check_PROGRAMS += %D%/replay_timespan
TESTS += %D%/replay_timespan
%C%_replay_timespan_SOURCES = %D%/fuzz_timespan.c $(FUZZ_REPLAY)
%C%_replay_timespan_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"timespan\"
%C%_replay_timespan_LDADD = $(TEST_LIBS) $(BASE_LIBS)
fuzz_programs += %D%/fuzz_timespan
%C%_fuzz_timespan_SOURCES = %D%/fuzz_timespan.c
%C%_fuzz_timespan_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_timespan_LDADD = $(BASE_LIBS)

if TIMER
check_PROGRAMS += %D%/replay_calendar
TESTS += %D%/replay_calendar
%C%_replay_calendar_SOURCES = %D%/fuzz_calendar.c $(FUZZ_REPLAY)
%C%_replay_calendar_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"calendar\"
%C%_replay_calendar_LDADD = $(TEST_LIBS) $(TIMER_LIBS)
fuzz_programs += %D%/fuzz_calendar
%C%_fuzz_calendar_SOURCES = %D%/fuzz_calendar.c
%C%_fuzz_calendar_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_calendar_LDADD = $(TIMER_LIBS)

check_PROGRAMS += %D%/replay_timestamp
TESTS += %D%/replay_timestamp
%C%_replay_timestamp_SOURCES = %D%/fuzz_timestamp.c $(FUZZ_REPLAY)
%C%_replay_timestamp_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"timestamp\"
%C%_replay_timestamp_LDADD = $(TEST_LIBS) $(TIMER_LIBS)
fuzz_programs += %D%/fuzz_timestamp
%C%_fuzz_timestamp_SOURCES = %D%/fuzz_timestamp.c
%C%_fuzz_timestamp_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_timestamp_LDADD = $(TIMER_LIBS)

check_PROGRAMS += %D%/replay_tzif
TESTS += %D%/replay_tzif
%C%_replay_tzif_SOURCES = %D%/fuzz_tzif.c $(FUZZ_REPLAY)
%C%_replay_tzif_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS=\"tzif\"
%C%_replay_tzif_LDADD = $(TEST_LIBS) $(TIMER_LIBS)
fuzz_programs += %D%/fuzz_tzif
%C%_fuzz_tzif_SOURCES = %D%/fuzz_tzif.c
%C%_fuzz_tzif_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS)
%C%_fuzz_tzif_LDADD = $(TIMER_LIBS)
endif
