#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Restart= of oneshot services: who fails once is run again, who fails for ever is given up, and whoever asked for the
# run hears of the end alone.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

service once.service 'Restart=on-failure' 'RestartSec=10ms' \
	'ExecStart=/bin/sh -c "echo $SUPD_CAUSE $SUPD_ATTEMPT >>'"$dir"'/once; test $SUPD_ATTEMPT -ge 3"'
service never.service 'Restart=on-failure' 'RestartSec=1ms' 'ExecStart=/bin/false'
service prevented.service 'Restart=on-failure' 'RestartPreventExitStatus=7' 'ExecStart=/bin/sh -c "exit 7"'
service patient.service 'Restart=on-failure' 'RestartSec=1h' 'ExecStart=/bin/false'
unit limited.service <<EOF
[Unit]
StartLimitBurst=1
StartLimitIntervalSec=1h
[Service]
ExecStart=/bin/true
EOF

supd_start

exits 0 "a service that fails twice and then succeeds was started well" supctl start once
says 'once.service: success' "and start tells of the last run"
is "each run had its cause and attempt" "$(tr '\n' , <"$dir/once")" "manual 1,restart 2,restart 3,"
exits 1 "a service that always fails is given up" supctl start never
says 'failed exit 1' "with the result of its last run"
is "it has failed" "$(field never active_state)" failed
is "after as many starts as systemd allows" "$(grep -c 'never.service.*failed exit 1' "$log")" 5
ok "the log says why there is no other" log_has 'never.service.*given up'
exits 1 "an exit status can prevent it" supctl start prevented
is "there was one run alone" "$(grep -c 'prevented.service.*failed exit 7' "$log")" 1

exits 0 "who does not wait is told of the first run" supctl start --no-block patient
ok "it fails" log_has 'patient.service.*restart in 1h'
is "between two runs it is activating" "$(field patient active_state)/$(field patient sub_state)" activating/auto-restart
exits 0 "a stop ends the chain" supctl stop patient
is "then it is inactive" "$(field patient active_state)" inactive

exits 0 "a written limit lets the first start pass" supctl start limited
exits 1 "and holds for every start" supctl start limited
says 'started too often' "with words"

exits 0 "a reset lets it start again" supctl reset limited.service
exits 0 "at once" supctl start limited
exits 0 "and forgets a failure" supctl reset never.service
is "which is none any more" "$(field never active_state)" inactive

supctl start --no-block patient >/dev/null
ok "it fails again" log_has 'patient.service.*restart in 1h'
supd_stop
done_testing
