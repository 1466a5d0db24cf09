# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libcore.a
CORE_LIBS = libcore.a $(SERVICE_LIBS)

libcore_a_SOURCES =
