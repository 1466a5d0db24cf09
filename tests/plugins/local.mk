# SPDX-License-Identifier: MIT
# One faulty plugin for each refusal, and two that are in order. Shared objects although they are not installed: that
# is what -rpath is for.
plugin_fixture_cflags = -std=gnu11 $(WARN_CFLAGS) $(HARDEN_CFLAGS)
plugin_fixture_ldflags = -module -avoid-version -shared -rpath /nowhere $(HARDEN_LDFLAGS)

check_LTLIBRARIES += %D%/bad-suffix.la
%C%_bad_suffix_la_SOURCES = %D%/bad_suffix.c %D%/fixture.h
%C%_bad_suffix_la_CFLAGS = $(plugin_fixture_cflags)
%C%_bad_suffix_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/larger.la
%C%_larger_la_SOURCES = %D%/larger.c %D%/fixture.h
%C%_larger_la_CFLAGS = $(plugin_fixture_cflags)
%C%_larger_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/no-start.la
%C%_no_start_la_SOURCES = %D%/no_start.c %D%/fixture.h
%C%_no_start_la_CFLAGS = $(plugin_fixture_cflags)
%C%_no_start_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/no-symbol.la
%C%_no_symbol_la_SOURCES = %D%/no_symbol.c
%C%_no_symbol_la_CFLAGS = $(plugin_fixture_cflags)
%C%_no_symbol_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/other-abi.la
%C%_other_abi_la_SOURCES = %D%/other_abi.c %D%/fixture.h
%C%_other_abi_la_CFLAGS = $(plugin_fixture_cflags)
%C%_other_abi_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/recorder.la
%C%_recorder_la_SOURCES = %D%/recorder.c
%C%_recorder_la_CFLAGS = $(plugin_fixture_cflags)
%C%_recorder_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/taken-suffix.la
%C%_taken_suffix_la_SOURCES = %D%/taken_suffix.c %D%/fixture.h
%C%_taken_suffix_la_CFLAGS = $(plugin_fixture_cflags)
%C%_taken_suffix_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/too-small.la
%C%_too_small_la_SOURCES = %D%/too_small.c %D%/fixture.h
%C%_too_small_la_CFLAGS = $(plugin_fixture_cflags)
%C%_too_small_la_LDFLAGS = $(plugin_fixture_ldflags)

check_LTLIBRARIES += %D%/unresolved.la
%C%_unresolved_la_SOURCES = %D%/unresolved.c
%C%_unresolved_la_CFLAGS = $(plugin_fixture_cflags)
%C%_unresolved_la_LDFLAGS = $(plugin_fixture_ldflags)
