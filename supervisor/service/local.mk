# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libservice.a
SERVICE_LIBS = libservice.a $(UNIT_LIBS)

libservice_a_SOURCES =
