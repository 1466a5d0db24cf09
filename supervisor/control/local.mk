# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcontrol.a
CONTROL_LIBS = libcontrol.a $(BASE_LIBS) $(SYSTEMD_LIBS) $(JANSSON_LIBS) -lm

libcontrol_a_SOURCES = \
	%D%/access.c %D%/access.h \
	%D%/api.h \
	%D%/client.c %D%/client.h \
	%D%/connection.c %D%/connection.h \
	%D%/format.c %D%/format.h \
	%D%/frame.c %D%/frame.h \
	%D%/listener.c %D%/listener.h \
	%D%/methods.c %D%/methods.h \
	%D%/peer.c %D%/peer.h \
	%D%/pump.c %D%/pump.h \
	%D%/rows.c %D%/rows.h \
	%D%/rows_json.c %D%/rows_json.h \
	%D%/server.c %D%/server.h \
	%D%/table.c %D%/table.h \
	%D%/wire.c %D%/wire.h
