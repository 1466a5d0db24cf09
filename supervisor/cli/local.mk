# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcli.a
CLI_LIBS = libcli.a $(TIMER_LIBS) $(CORE_LIBS) $(STORE_LIBS) $(CONTROL_LIBS)

libcli_a_SOURCES =

if TIMER
libcli_a_SOURCES += %D%/cli_calendar.c %D%/cli_calendar.h
endif
