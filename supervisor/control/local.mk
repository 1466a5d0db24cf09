# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcontrol.a
CONTROL_LIBS = libcontrol.a $(BASE_LIBS) $(SYSTEMD_LIBS) $(JANSSON_LIBS)

libcontrol_a_SOURCES =
