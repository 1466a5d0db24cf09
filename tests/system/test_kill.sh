#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sudden ends: of a service's main process, of one of its grandchildren, of supd itself; and services that do not want
# to stop. No process is left behind.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

# Starts a grandchild that has a session of its own, and tells its pid. A name in the arguments makes them findable.
cat >"$dir/family" <<'END'
#!/bin/sh
setsid sleep 1234567 &
echo "grandchild $!"
[ "$1" = stubborn ] && trap '' TERM
while :; do sleep 1234567; done
END
chmod +x "$dir/family"
service family.service "ExecStart=$dir/family"
service stubborn.service "ExecStart=$dir/family stubborn" 'TimeoutStopSec=200ms'
service patient.service "ExecStart=$dir/family stubborn" 'TimeoutStopSec=infinity' 'SendSIGKILL=no'

started() { # UNIT: sets $main and $grandchild; $waiter waits for its end, and writes $dir/out
	: >"$log"
	timeout "$PATIENCE" supctl start "$1" >"$dir/out" 2>&1 &
	waiter=$!
	log_has "$1.*: grandchild [0-9]+"
	grandchild=$(sed -nE "s/.*$1.*: grandchild ([0-9]+)$/\1/p" "$log" | tail -n 1)
	main=$(field "$1" main_pid)
}

supd_start

started family.service
kill -KILL "$main"
wait "$waiter"
is "kill -9 of the main process is a failure" "$?" 1
ok "with the signal's name" grep -q 'killed KILL' "$dir/out"
ok "what else it ran is gone" all_gone "$main" "$grandchild"
is "show tells the signal" "$(field family.service exit_signal)" KILL

started family.service
kill -KILL "$grandchild"
is "kill -9 of a grandchild is the service's own affair" "$(field family.service active_state)" activating
exits 0 "stop ends the rest" supctl stop family
ok "all of it" all_gone "$main" "$grandchild"

started stubborn.service
exits 0 "one that ignores SIGTERM is stopped all the same" supctl stop stubborn
ok "by SIGKILL" all_gone "$main" "$grandchild"

started stubborn.service
supd_stop
ok "SIGTERM to supd ends such a service, too" all_gone "$main" "$grandchild"

supd_start
started patient.service
kill -TERM "$supd_pid"
log_has 'stopping: SIGTERM'
kill -INT "$supd_pid"
log_has 'stopping already'
kill -INT "$supd_pid"
log_has 'interrupted once more'
supd_end
is "at the second SIGINT supd waits for nobody" "$?" 0
ok "and what still ran was killed" all_gone "$main" "$grandchild"

supd_start
started family.service
supd_kill
ok "kill -9 of supd ends the main process" all_gone "$main"
supd_start
ok "the next one sweeps up what the service had left" all_gone "$grandchild"
is "nothing runs then" "$(field family.service active_state)" inactive
supd_stop
done_testing
