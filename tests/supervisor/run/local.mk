# SPDX-License-Identifier: MIT
# What the tests start as a service, and the loop they start it from.
check_PROGRAMS += %D%/probe
# It is to see what it is given, not what a sanitizer makes of that.
%C%_probe_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
%C%_probe_LDFLAGS = $(AM_LDFLAGS) -fno-sanitize=all
%C%_probe_LDADD =

check_LIBRARIES += libscene.a
libscene_a_SOURCES = %D%/scene.c %D%/scene.h %D%/slow_disk.c %D%/slow_disk.h
SCENE_LIBS = libscene.a $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_clone_into
TESTS += %D%/test_clone_into
%C%_test_clone_into_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_spawn
TESTS += %D%/test_spawn
%C%_test_spawn_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_runs
TESTS += %D%/test_runs
%C%_test_runs_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_plugin_loader
TESTS += %D%/test_plugin_loader
%C%_test_plugin_loader_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_output
TESTS += %D%/test_output
%C%_test_output_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_log_format
TESTS += %D%/test_log_format
%C%_test_log_format_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_log_sink
TESTS += %D%/test_log_sink
%C%_test_log_sink_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_worker
TESTS += %D%/test_worker
%C%_test_worker_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_saver
TESTS += %D%/test_saver
%C%_test_saver_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_barrier
TESTS += %D%/test_barrier
%C%_test_barrier_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_low_descriptors
TESTS += %D%/test_low_descriptors
%C%_test_low_descriptors_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_held
TESTS += %D%/test_held
%C%_test_held_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_daemon
TESTS += %D%/test_daemon
%C%_test_daemon_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_world_linux
TESTS += %D%/test_world_linux
%C%_test_world_linux_LDADD = $(SCENE_LIBS)

check_PROGRAMS += %D%/test_keeper
TESTS += %D%/test_keeper
%C%_test_keeper_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_history_keeper
TESTS += %D%/test_history_keeper
%C%_test_history_keeper_LDADD = $(TEST_LIBS) $(RUN_LIBS)
check_PROGRAMS += %D%/test_directories
TESTS += %D%/test_directories
%C%_test_directories_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_checks
TESTS += %D%/test_checks
%C%_test_checks_LDADD = $(TEST_LIBS) $(RUN_LIBS)

check_PROGRAMS += %D%/test_cgroup_control
TESTS += %D%/test_cgroup_control
%C%_test_cgroup_control_LDADD = $(TEST_LIBS) $(RUN_LIBS)
