# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libservice.a
SERVICE_LIBS = libservice.a $(UNIT_LIBS)

libservice_a_SOURCES = \
	%D%/run_record.c %D%/run_record.h \
	%D%/service_fsm.c %D%/service_fsm.h
