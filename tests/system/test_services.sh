#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Services from start to end, as seen through supctl: results, exit statuses, and no process left behind.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

service good.service 'ExecStart=/bin/sh -c "echo to-the-log"'
service bad.service 'ExecStart=/bin/sh -c "exit 3"'
service nothing.service 'ExecStart=/nonexistent/program'
service skipped.service 'ExecCondition=/bin/false' 'ExecStart=/bin/true'
service slow.service 'TimeoutStartSec=100ms' 'ExecStart=/bin/sleep 1000'
service long.service 'ExecStart=/bin/sleep 1000'
service stays.service 'RemainAfterExit=yes' 'ExecStart=/bin/true'
service typo.service 'ExecStart=/bin/true' 'ExecStartt=/bin/true'
service simple.service 'Type=simple' 'ExecStart=/bin/sleep 1000'
service env.service 'ExecStart=/bin/sh -c "env > '"$dir"'/env"' 'Environment=A=1'
ln -s /dev/null "$units/masked.service"

supd_start

exits 0 "start waits for a success" supctl start good
says 'good.service: success' "and tells it"
ok "what a service prints is in the log, with its unit" log_has ' good\.service\[[0-9a-f]+\]: to-the-log$'
exits 1 "a run that fails makes start fail" supctl start bad
says 'failed exit 3' "with the reason"
exits 1 "a program that is missing is told apart" supctl start nothing
says 'exec: No such file' "as a failure to execute"
exits 0 "a condition that says no is no failure" supctl start skipped
says 'skipped' "but a skip"
exits 1 "a run that takes too long fails" supctl start slow
says 'timeout' "by timeout"
exits 1 "one of several that fails is enough" supctl start good bad

exits 4 "an unknown unit is refused" supctl start god
says 'did you mean good.service\?' "with what may have been meant"
exits 4 "an invalid unit is refused" supctl start typo
says "ExecStartt" "with its mistake"
exits 4 "a masked unit is refused" supctl start masked
exits 4 "a unit of another type is refused" supctl start simple
exits 4 "status of an unknown unit" supctl status god
exits 4 "status of an invalid one" supctl status typo
says 'typo.service:3' "tells file and line"
exits 3 "status of one that is not active" supctl status good
exits 0 "status of all" supctl status

exits 0 "start can go without waiting" supctl start --no-block long
exits 0 "an active unit is active" supctl status long
pid=$(field long main_pid)
ok "its main process lives" test -d "/proc/$pid"
exits 0 "stop waits until it is over" supctl stop long
ok "no process is left" test ! -d "/proc/$pid"
exits 0 "to stop what is stopped is no mistake" supctl stop long

exits 0 "one that remains is started" supctl start stays
is "it stays active" "$(field stays active_state)/$(field stays sub_state)" active/exited
run=$(field stays run_id)
exits 0 "to start it once more changes nothing" supctl start stays
is "there is no second run" "$(field stays run_id)" "$run"
exits 0 "restart begins another" supctl restart stays
ok "with an id of its own" test "$(field stays run_id)" != "$run"
exits 0 "and it can be stopped" supctl stop stays
is "then it is inactive" "$(field stays active_state)" inactive

supctl start --no-block long >/dev/null
supctl start long >"$dir/joined" 2>&1 &
joined=$!
exits 0 "restart of one that runs ends the old run" supctl restart --no-block long
# If the start came after that, it waits for the new run.
while kill -0 "$joined" 2>/dev/null; do supctl restart --no-block long >/dev/null; done
wait "$joined"
is "who waited for that is told" "$?" 1
supctl stop long >/dev/null

exits 0 "a service finds its own environment" supctl start env
ok "and nothing of the daemon's" bash -c '! grep -q "^SUPD_RUNTIME_DIR\|^TOP_SRCDIR" '"$dir/env"
ok "its run has an id" grep -qE '^INVOCATION_ID=[0-9a-f]{32}$' "$dir/env"
ok "and a cause" grep -qx SUPD_CAUSE=manual "$dir/env"

supd_stop
done_testing
