# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcli.a
CLI_LIBS = libcli.a $(TIMER_LIBS) $(CORE_LIBS) $(STORE_LIBS) $(CONTROL_LIBS)

libcli_a_SOURCES = \
	%D%/cli.c %D%/cli.h \
	%D%/cli_environment.c %D%/cli_environment.h \
	%D%/cli_enable.c %D%/cli_enable.h \
	%D%/cli_events.c %D%/cli_events.h \
	%D%/cli_healthy.c %D%/cli_healthy.h \
	%D%/cli_history.c %D%/cli_history.h \
	%D%/cli_jobs.c %D%/cli_jobs.h \
	%D%/cli_logs.c %D%/cli_logs.h \
	%D%/cli_manager.c %D%/cli_manager.h \
	%D%/cli_options.c %D%/cli_options.h \
	%D%/cli_stats.c %D%/cli_stats.h \
	%D%/cli_run.c %D%/cli_run.h \
	%D%/cli_status.c %D%/cli_status.h \
	%D%/cli_plan.c %D%/cli_plan.h \
	%D%/cli_skip.c %D%/cli_skip.h \
	%D%/cli_time.c %D%/cli_time.h \
	%D%/cli_timers.c %D%/cli_timers.h \
	%D%/cli_units.c %D%/cli_units.h \
	%D%/cli_verbs.c %D%/cli_verbs.h \
	%D%/cli_verify.c %D%/cli_verify.h \
	%D%/cli_why.c %D%/cli_why.h \
	%D%/log_lines.c %D%/log_lines.h \
	%D%/offline.c %D%/offline.h \
	%D%/openmetrics.c %D%/openmetrics.h \
	%D%/past.c %D%/past.h \
	%D%/run_unit.c %D%/run_unit.h \
	%D%/run_wait.c %D%/run_wait.h \
	%D%/verify_programs.c %D%/verify_programs.h \
	%D%/verify_report.c %D%/verify_report.h \
	%D%/world_offline.c %D%/world_offline.h \
	$(settings_sources)

if TIMER
libcli_a_SOURCES += \
	%D%/cli_calendar.c %D%/cli_calendar.h \
	%D%/cli_simulate.c %D%/cli_simulate.h \
	%D%/simulate_report.c %D%/simulate_report.h \
	%D%/world_virtual.c %D%/world_virtual.h
endif

bin_PROGRAMS += supctl
supctl_SOURCES = supervisor/supctl.c
supctl_LDADD = $(CLI_LIBS)
