# SPDX-License-Identifier: MIT
noinst_LIBRARIES += librun.a
RUN_LIBS = librun.a $(STORE_LIBS) $(SYSTEMD_LIBS) -lpthread

librun_a_SOURCES = \
	%D%/admission.c %D%/admission.h \
	%D%/cgroup.c %D%/cgroup.h \
	%D%/cgroup_control.c %D%/cgroup_control.h \
	%D%/cgroup_home.c %D%/cgroup_home.h \
	%D%/checks.c %D%/checks.h \
	%D%/clock_watch.c %D%/clock_watch.h \
	%D%/clone_into.c %D%/clone_into.h \
	%D%/condition_facts.c %D%/condition_facts.h \
	%D%/condition_mounts.c %D%/condition_tests.c \
	%D%/condition_virt.c \
	%D%/daemon.c %D%/daemon.h \
	%D%/directories.c %D%/directories.h \
	%D%/guard.c %D%/guard.h \
	%D%/history_batch.c %D%/history_batch.h \
	%D%/history_keeper.c %D%/history_keeper.h \
	%D%/identity.c %D%/identity.h \
	%D%/keeper.c %D%/keeper.h \
	%D%/launch.c %D%/launch.h \
	%D%/log_format.c %D%/log_format.h \
	%D%/log_sink.c %D%/log_sink.h \
	%D%/notify.c %D%/notify.h \
	%D%/numa.c %D%/numa.h \
	%D%/output.c %D%/output.h \
	%D%/plugin_loader.c %D%/plugin_loader.h \
	%D%/process.c %D%/process.h \
	%D%/process_tree.c %D%/process_tree.h \
	%D%/reaper.c %D%/reaper.h \
	%D%/runs.c %D%/runs.h \
	%D%/runtime_directories.c %D%/runtime_directories.h \
	%D%/saver.c %D%/saver.h \
	%D%/barrier.c %D%/barrier.h \
	%D%/child_code.h \
	%D%/low_descriptors.c %D%/low_descriptors.h \
	%D%/scanner.c %D%/scanner.h \
	%D%/spawn.c %D%/spawn.h \
	%D%/streams.c %D%/streams.h \
	%D%/worker.c %D%/worker.h \
	%D%/world_linux.c %D%/world_linux.h \
	%D%/zone_watch.c %D%/zone_watch.h
