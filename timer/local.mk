# SPDX-License-Identifier: MIT
# The timer code is compiled twice: into libtimer.a for supctl and the tests, and into the plugin,
# which carries its own copy of what it needs of base. supd links neither.
timer_sources =
timer_base_sources =

if TIMER
noinst_LIBRARIES += libtimer.a
TIMER_LIBS = libtimer.a $(BASE_LIBS) $(JANSSON_LIBS)
libtimer_a_SOURCES = $(timer_sources)

# Enabled when timer_plugin.c is there:
#pkglib_LTLIBRARIES += timer.la
#timer_la_SOURCES = $(timer_sources) $(timer_base_sources)
#timer_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(HARDEN_CFLAGS)
#timer_la_LDFLAGS = -module -avoid-version -shared -export-symbols-regex '^supd_plugin_1$$' \
#	$(HARDEN_LDFLAGS) $(PLUGIN_LDFLAGS)
#timer_la_LIBADD = $(JANSSON_LIBS)
endif
