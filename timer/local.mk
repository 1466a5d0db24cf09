# SPDX-License-Identifier: MIT
# The timer code is compiled twice: into libtimer.a for supctl and the tests, and into the plugin,
# which carries its own copy of what it needs of base. supd links neither.
timer_sources = \
	%D%/fsm.c %D%/fsm.h %D%/fsm_private.h \
	%D%/fsm_past.c \
	%D%/fsm_skip.c \
	%D%/instance.h \
	%D%/memory.c %D%/memory.h \
	%D%/making.c %D%/making.h \
	%D%/never.c %D%/never.h \
	%D%/persist.c \
	%D%/plan.c \
	%D%/recent.c %D%/recent.h \
	%D%/report.c \
	%D%/schedule.c %D%/schedule.h \
	%D%/spec.c %D%/spec.h \
	%D%/state_file.c %D%/state_file.h \
	%D%/timer_plugin.c \
	%D%/timer_units.c \
	%D%/why.c \
	%D%/calendar.h %D%/calendar_private.h %D%/civil.h \
	%D%/calendar_items.c %D%/calendar_scan.h \
	%D%/calendar_layout.c %D%/calendar_layout.h \
	%D%/calendar_next.c \
	%D%/calendar_parse.c \
	%D%/calendar_print.c \
	%D%/calendar_search.c \
	%D%/timestamp.c %D%/timestamp.h \
	%D%/zone.c %D%/zone.h %D%/zone_private.h \
	%D%/zone_draft.c \
	%D%/zone_load.c %D%/zone_load.h \
	%D%/zone_rule.c %D%/zone_rule.h \
	%D%/zone_tzif.c
timer_base_sources = \
	supervisor/base/arena.c supervisor/base/arena.h \
	supervisor/base/diag.c supervisor/base/diag.h \
	supervisor/base/heap.c supervisor/base/heap.h \
	supervisor/base/keys.c supervisor/base/keys.h \
	supervisor/base/names.c supervisor/base/names.h \
	supervisor/base/text.c supervisor/base/text.h \
	supervisor/base/value_word.c \
	supervisor/base/values.c supervisor/base/values.h \
	supervisor/base/parse_error.c supervisor/base/parse_error.h \
	supervisor/base/timespan.c supervisor/base/timespan.h supervisor/base/usec.h

if TIMER
noinst_LIBRARIES += libtimer.a
TIMER_LIBS = libtimer.a $(BASE_LIBS) $(JANSSON_LIBS)
libtimer_a_SOURCES = $(timer_sources)

pkglib_LTLIBRARIES += timer.la
timer_la_SOURCES = $(timer_sources) $(timer_base_sources)
timer_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(HARDEN_CFLAGS)
timer_la_LDFLAGS = -module -avoid-version -shared -export-symbols-regex '^supd_plugin_1$$' \
	$(HARDEN_LDFLAGS) $(PLUGIN_LDFLAGS)
timer_la_LIBADD = $(JANSSON_LIBS)
endif
