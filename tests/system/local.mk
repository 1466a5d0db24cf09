# SPDX-License-Identifier: MIT
# The real daemon in a scratch folder.
system_tests =
system_tests += %D%/test_access.sh
system_tests += %D%/test_conditions.sh
system_tests += %D%/test_config.sh
system_tests += %D%/test_debian_units.sh
system_tests += %D%/test_dependencies.sh
system_tests += %D%/test_enable.sh
system_tests += %D%/test_env.sh
system_tests += %D%/test_exec.sh
system_tests += %D%/test_explain.sh
system_tests += %D%/test_gate.sh
system_tests += %D%/test_history.sh
system_tests += %D%/test_kill.sh
system_tests += %D%/test_notify.sh
system_tests += %D%/test_output.sh
system_tests += %D%/test_pid1.sh
system_tests += %D%/test_probe.sh
system_tests += %D%/test_reload.sh
system_tests += %D%/test_restart.sh
system_tests += %D%/test_services.sh
system_tests += %D%/test_streams.sh
system_tests += %D%/test_templates.sh
system_tests += %D%/test_timers.sh
system_tests += %D%/test_two_daemons.sh
system_tests += %D%/test_user.sh
system_tests = \
	%D%/test_access.sh \
	%D%/test_conditions.sh \
	%D%/test_config.sh \
	%D%/test_debian_units.sh \
	%D%/test_env.sh \
	%D%/test_exec.sh \
	%D%/test_explain.sh \
	%D%/test_gate.sh \
	%D%/test_kill.sh \
	%D%/test_notify.sh \
	%D%/test_pid1.sh \
	%D%/test_probe.sh \
	%D%/test_reload.sh \
	%D%/test_restart.sh \
	%D%/test_services.sh \
	%D%/test_streams.sh \
	%D%/test_timers.sh \
	%D%/test_two_daemons.sh \
	%D%/test_access.sh %D%/test_config.sh %D%/test_debian_units.sh %D%/test_env.sh %D%/test_explain.sh %D%/test_gate.sh %D%/test_kill.sh \
	%D%/test_output.sh %D%/test_pid1.sh %D%/test_reload.sh %D%/test_restart.sh \
	%D%/test_notify.sh %D%/test_pid1.sh %D%/test_reload.sh %D%/test_restart.sh \
	%D%/test_access.sh %D%/test_config.sh %D%/test_debian_units.sh %D%/test_enable.sh %D%/test_env.sh %D%/test_explain.sh %D%/test_gate.sh %D%/test_kill.sh \
	%D%/test_access.sh %D%/test_config.sh %D%/test_debian_units.sh %D%/test_dependencies.sh %D%/test_env.sh %D%/test_explain.sh %D%/test_gate.sh %D%/test_kill.sh \
	%D%/test_pid1.sh %D%/test_reload.sh %D%/test_restart.sh \
	%D%/test_access.sh %D%/test_conditions.sh %D%/test_config.sh %D%/test_debian_units.sh %D%/test_env.sh %D%/test_explain.sh %D%/test_gate.sh %D%/test_kill.sh \
	%D%/test_pid1.sh %D%/test_reload.sh \
	%D%/test_services.sh %D%/test_streams.sh %D%/test_templates.sh %D%/test_timers.sh %D%/test_two_daemons.sh \
	%D%/test_services.sh %D%/test_streams.sh %D%/test_timers.sh %D%/test_two_daemons.sh \
	%D%/test_notify.sh %D%/test_pid1.sh %D%/test_reload.sh %D%/test_restart.sh \
	%D%/test_pid1.sh %D%/test_reload.sh %D%/test_restart.sh \
	%D%/test_access.sh %D%/test_conditions.sh %D%/test_config.sh %D%/test_debian_units.sh %D%/test_env.sh %D%/test_explain.sh %D%/test_gate.sh %D%/test_kill.sh \
	%D%/test_pid1.sh %D%/test_reload.sh \
	%D%/test_run.sh %D%/test_services.sh %D%/test_streams.sh %D%/test_timers.sh %D%/test_two_daemons.sh \
	%D%/test_user.sh
dist_check_SCRIPTS += $(system_tests)
TESTS += $(system_tests)
EXTRA_DIST += %D%/probe.golden %D%/supd.sh
