# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libunit.a
UNIT_LIBS = libunit.a $(BASE_LIBS) $(INIH_LIBS)

libunit_a_SOURCES =
