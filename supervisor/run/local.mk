# SPDX-License-Identifier: MIT
noinst_LIBRARIES += librun.a
RUN_LIBS = librun.a $(STORE_LIBS) $(SYSTEMD_LIBS)

librun_a_SOURCES =
