# SPDX-License-Identifier: MIT
# supd's side of the composition root; settings and surroundings are supctl's, too.
settings_sources = \
	%D%/settings.c %D%/settings.h \
	%D%/surroundings.c %D%/surroundings.h

sbin_PROGRAMS += supd
supd_SOURCES = $(settings_sources) \
	supervisor/supd.c \
	%D%/supd_control.c %D%/supd_control.h \
	%D%/supd_environment.c %D%/supd_environment.h \
	%D%/supd_events.c %D%/supd_events.h \
	%D%/supd_files.c %D%/supd_files.h \
	%D%/supd_history.c %D%/supd_history.h \
	%D%/supd_jobs.c %D%/supd_jobs.h \
	%D%/supd_log.c %D%/supd_log.h \
	%D%/supd_logs.c %D%/supd_logs.h \
	%D%/supd_options.c %D%/supd_options.h \
	%D%/supd_places.c %D%/supd_places.h \
	%D%/supd_reload.c %D%/supd_reload.h \
	%D%/supd_transient.c %D%/supd_transient.h \
	%D%/supd_units.c %D%/supd_units.h \
	%D%/supd_wire.c %D%/supd_wire.h
supd_LDADD = libcontrol.a libcore.a $(RUN_LIBS) $(JANSSON_LIBS)
