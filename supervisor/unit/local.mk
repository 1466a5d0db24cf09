# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libunit.a
UNIT_LIBS = libunit.a $(BASE_LIBS) $(INIH_LIBS)

libunit_a_SOURCES = \
	%D%/fragment.c %D%/fragment.h \
	%D%/merge.c %D%/merge.h \
	%D%/name.c %D%/name.h \
	%D%/reader.c %D%/reader.h \
	%D%/source.c %D%/source.h
