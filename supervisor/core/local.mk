# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcore.a
CORE_LIBS = libcore.a $(SERVICE_LIBS)

libcore_a_SOURCES = \
	%D%/config.c %D%/config.h \
	%D%/directories.c %D%/directories.h \
	%D%/effects.c \
	%D%/enable.c \
	%D%/events.c %D%/events.h \
	%D%/gate.c %D%/gate.h \
	%D%/history_report.c %D%/history_report.h \
	%D%/ledger.c %D%/ledger.h \
	%D%/install.c %D%/install.h \
	%D%/graph.c %D%/graph.h \
	%D%/manager.c %D%/manager.h %D%/manager_private.h \
	%D%/ordering.c \
	%D%/plugin_calls.c \
	%D%/plugin_host.c %D%/plugin_host.h \
	%D%/plugin_units.c \
	%D%/plugin_verdict.c %D%/plugin_verdict.h \
	%D%/reload.c \
	%D%/report.c %D%/report.h \
	%D%/requests.c \
	%D%/transaction.c %D%/transaction.h \
	%D%/turns.c %D%/turns.h \
	%D%/unit_wait.c %D%/unit_wait.h \
	%D%/unit.c %D%/unit.h
