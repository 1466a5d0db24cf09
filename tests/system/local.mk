# SPDX-License-Identifier: MIT
# The real daemon in a scratch folder.
system_tests =
system_tests += %D%/test_access.sh
system_tests += %D%/test_completion.sh
system_tests += %D%/test_conditions.sh
system_tests += %D%/test_config.sh
system_tests += %D%/test_crowd.sh
system_tests += %D%/test_debian_units.sh
system_tests += %D%/test_dependencies.sh
system_tests += %D%/test_enable.sh
system_tests += %D%/test_env.sh
system_tests += %D%/test_events.sh
system_tests += %D%/test_exec.sh
system_tests += %D%/test_explain.sh
system_tests += %D%/test_gate.sh
system_tests += %D%/test_history.sh
system_tests += %D%/test_kill.sh
system_tests += %D%/test_mounts.sh
system_tests += %D%/test_notify.sh
system_tests += %D%/test_output.sh
system_tests += %D%/test_pid1.sh
system_tests += %D%/test_plan.sh
system_tests += %D%/test_probe.sh
system_tests += %D%/test_reload.sh
system_tests += %D%/test_restart.sh
system_tests += %D%/test_run.sh
system_tests += %D%/test_services.sh
system_tests += %D%/test_slow_disk.sh
system_tests += %D%/test_streams.sh
system_tests += %D%/test_templates.sh
system_tests += %D%/test_timers.sh
system_tests += %D%/test_two_daemons.sh
system_tests += %D%/test_user.sh
dist_check_SCRIPTS += $(system_tests)
TESTS += $(system_tests)
EXTRA_DIST += %D%/probe.golden %D%/supd.sh

# Memory that runs out; with timers, whose start allocates the most.
if TIMER
check_LTLIBRARIES += %D%/failing-memory.la
%C%_failing_memory_la_SOURCES = %D%/failing_memory.c %D%/failing_memory.h
%C%_failing_memory_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
%C%_failing_memory_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# A disk that hangs.
check_LTLIBRARIES += %D%/slow-disk.la
%C%_slow_disk_la_SOURCES = %D%/slow_disk.c
%C%_slow_disk_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
%C%_slow_disk_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

check_PROGRAMS += %D%/test_memory
TESTS += %D%/test_memory
%C%_test_memory_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
endif
