# SPDX-License-Identifier: MIT
# What the tests start as a service, and the loop they start it from.
check_PROGRAMS += %D%/probe
%C%_probe_LDADD =

check_LIBRARIES += libscene.a
libscene_a_SOURCES = %D%/scene.c %D%/scene.h
SCENE_LIBS = libscene.a $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_spawn
TESTS += %D%/test_spawn
%C%_test_spawn_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_runs
TESTS += %D%/test_runs
%C%_test_runs_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_plugin_loader
TESTS += %D%/test_plugin_loader
%C%_test_plugin_loader_LDADD = $(TEST_LIBS) $(RUN_LIBS)
