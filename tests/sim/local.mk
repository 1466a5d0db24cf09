# SPDX-License-Identifier: MIT
# The whole manager and the whole plugin on a machine that is not there.
sim_programs =

if TIMER
sim_programs += %D%/sim_walk
EXTRA_PROGRAMS += %D%/sim_walk
%C%_sim_walk_SOURCES = %D%/sim_walk.c $(walk_sources) $(sim_sources)
%C%_sim_walk_LDADD = $(SIM_LIBS)
walk_sources = %D%/walk.c %D%/walk.h %D%/book.c %D%/book.h
sim_sources = %D%/sim.c %D%/sim.h %D%/moments.c %D%/moments.h
SIM_LIBS = $(TEST_LIBS) libtimer.a $(CORE_LIBS) $(TIMER_LIBS)

check_PROGRAMS += %D%/test_scenarios
TESTS += %D%/test_scenarios
%C%_test_scenarios_SOURCES = %D%/test_scenarios.c $(sim_sources)
%C%_test_scenarios_LDADD = $(SIM_LIBS)

check_PROGRAMS += %D%/test_walk
TESTS += %D%/test_walk
%C%_test_walk_SOURCES = %D%/test_walk.c $(walk_sources) $(sim_sources)
%C%_test_walk_LDADD = $(SIM_LIBS)

check_PROGRAMS += %D%/test_past
TESTS += %D%/test_past
%C%_test_past_SOURCES = %D%/test_past.c %D%/book.c %D%/book.h $(sim_sources)
%C%_test_past_LDADD = $(TEST_LIBS) libtimer.a libcore.a $(RUN_LIBS) $(TIMER_LIBS)
endif

.PHONY: sim
sim: $(sim_programs)
	$(AM_V_at)set -e; for p in $(sim_programs); do ./$$p; done
