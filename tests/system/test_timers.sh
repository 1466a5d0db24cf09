#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Timers with the real daemon, real clocks and short spans: they elapse, are triggered, retried, missed, kept on record.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"

timer() { # NAME LINES…
	local name=$1
	shift
	{
		echo "[Timer]"
		printf '%s\n' "$@"
	} >"$units/$name"
}

service soon.service "ExecStart=/bin/sh -c 'env > $dir/env'"
timer soon.timer OnActiveSec=100ms
service every.service 'ExecStart=/bin/true'
timer every.timer OnStartupSec=100ms OnUnitInactiveSec=200ms
service fails.service 'ExecStart=/bin/sh -c "exit 7"'
timer fails.timer OnActiveSec=10d 'RetrySec=100ms 100ms'
service long.service 'ExecStart=/bin/sh -c "echo begun; exec sleep 1000"'
timer long.timer 'OnCalendar=*-*-* *:*:*' Persistent=no
service last.service 'ExecStart=/bin/true'
timer last.timer OnCalendar=2199-01-01

supd_start --experimental=timers

ok "OnActiveSec= starts its service" log_has ' soon\.service\[.*: started by soon\.timer \(active\)'
ok "which succeeds" log_has ' soon\.service\[.*: success'
ok "and is told by whom" grep -qx TRIGGER_UNIT=soon.timer "$dir/env"
ok "and why" grep -qx SUPD_CAUSE=active "$dir/env"
ok "OnStartupSec= does" log_has ' every\.service\[.*: started by every\.timer \(startup\)'
ok "and OnUnitInactiveSec= after it" log_has ' every\.service\[.*: started by every\.timer \(unit-inactive\)'

ok "a target that runs on is started once" log_has ' long\.service\[.*: begun'
ok "and its next moment is missed for it" log_has ' long\.timer: missed: overlap'
is "there was no second start" "$(grep -c ' long\.service\[.*: started by' "$log")" 1
exits 1 "trigger of an active one is refused" supctl trigger long
says 'active already' "with the reason"
exits 0 "disable ends its timer" supctl disable long.timer
exits 3 "at once" supctl is-active long.timer
exits 0 "a service that runs goes on" supctl status long.service
exits 0 "until it is stopped" supctl stop long

exits 0 "trigger runs what a timer activates" supctl trigger last
says 'last.service: success' "and waits for its end"
exits 1 "a run that fails is told" supctl trigger fails
says 'failed exit 7' "with its reason"
ok "and retried" log_has ' fails\.service\[.*: started by fails\.timer \(retry, attempt 2\)'
ok "twice" log_has ' fails\.service\[.*: started by fails\.timer \(retry, attempt 3\)'
exits 0 "timers lists them" supctl timers --all
says 'last\.timer +last\.service +success' "with results"

: >"$log"
supctl trigger --no-block long >/dev/null
log_has ' long\.service\[.*: begun'
supd_kill
supd_start --experimental=timers
ok "a run that supd did not outlive is known as interrupted" log_has ' long\.timer.*: a run was interrupted'
exits 0 "what was there before is on record" supctl timers --all --json
says '"unit":"last.timer","activates":"last.service","result":"success"' "with its result"
exits 0 "reset forgets it" supctl reset last
exits 0 "that is told" supctl timers --all --json
says '"unit":"last.timer","activates":"last.service","result":null' "as nothing"
exits 4 "reset of an unknown timer" supctl reset lost

service cut.service "ExecStart=/bin/sh -c 'echo begun; exec sleep 1000'"
timer cut.timer OnCalendar=2199-01-01 Persistent=no
exits 0 "one that is not made up for" supctl reload
exits 0 "goes on" supctl trigger --no-block cut
log_has ' cut\.service\[.*: begun'
supd_kill
supd_start --experimental=timers
ok "when supd dies" log_has ' cut\.timer.*: a run was interrupted'
exits 1 "which is to be looked at" supctl is-healthy cut.timer
is "and is told once" "$output" "cut.timer: its last run was interrupted: supd ended while it went on"
supd_stop
done_testing
