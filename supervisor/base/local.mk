# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libbase.a
BASE_LIBS = libbase.a

libbase_a_SOURCES =
