# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libstore.a
STORE_LIBS = libstore.a $(SERVICE_LIBS) $(JANSSON_LIBS)

libstore_a_SOURCES =
