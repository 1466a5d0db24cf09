# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcore.a
CORE_LIBS = libcore.a $(SERVICE_LIBS)

libcore_a_SOURCES = \
	%D%/effects.c \
	%D%/gate.c %D%/gate.h \
	%D%/manager.c %D%/manager.h %D%/manager_private.h \
	%D%/plugin_host.c \
	%D%/reload.c \
	%D%/requests.c \
	%D%/unit.c %D%/unit.h
