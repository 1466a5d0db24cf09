#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Reload: all or nothing, says what changed, and leaves alone what runs.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

service one.service 'ExecStart=/bin/sh -c "echo first"'
service old.service 'ExecStart=/bin/true'
service was-bad.service 'ExecStartt=/bin/true'
service long.service 'ExecStart=/bin/sleep 1000'
supd_start

exits 0 "with nothing changed" supctl reload
says 'nothing has changed' "it says so, and an old mistake does not stand in the way"

supctl start --no-block long >/dev/null
run=$(field long run_id)
service one.service 'ExecStart=/bin/sh -c "echo second"'
service new.service 'ExecStart=/bin/true'
service long.service 'ExecStart=/bin/sleep 2000'
rm "$units/old.service"
exits 0 "a good reload" supctl reload --json
says '"unit":"one.service","change":"changed"' "tells what is changed"
says '"unit":"new.service","change":"added"' "and added"
says '"unit":"old.service","change":"removed"' "and removed"
exits 0 "the new one can be started" supctl start new
exits 4 "the old one is no more" supctl start old
supctl start one >/dev/null
ok "what changed counts" log_has 'one\.service\[[0-9a-f]+\]: second'
is "what runs goes on as it was" "$(field long run_id)/$(field long active_state)" "$run/activating"
supctl stop long >/dev/null
ok "and gets its new file when it has ended" grep -q 2000 <<<"$(field long exec_start)"

service one.service 'ExecStart=/bin/sh -c "echo third"'
service new.service 'ExecStart=/bin/true' 'Userr=x'
service late.service 'ExecStart=/bin/true'
exits 4 "a reload with a mistake is refused" supctl reload
says 'new\.service:3: unknown key' "with its place"
says 'nothing was changed' "and says that all is as it was"
: >"$log"
supctl start one >/dev/null
ok "the running configuration stands" log_has 'one\.service\[[0-9a-f]+\]: second'
exits 0 "even of the unit with the mistake" supctl start new
exits 4 "nothing of the rest came in" supctl start late

service new.service 'ExecStart=/bin/true'
: >"$log"
kill -HUP "$supd_pid"
ok "SIGHUP reloads, too" log_has 'notice reloaded: 3 units changed'
exits 0 "and what was held back is in" supctl start late

# ---- many at once ----

service three.service 'ExecStart=/bin/true'
service four.service 'ExecStart=/bin/true'
asked=()
for i in 1 2 3 4 5 6 7 8; do
	service "many-$i.service" 'ExecStart=/bin/true'
	supctl reload >/dev/null 2>&1 &
	asked+=($!)
done
supctl enable three >/dev/null 2>&1 &
asked+=($!)
supctl enable four >/dev/null 2>&1 &
asked+=($!)
kill -HUP "$supd_pid"
failed=0
for pid in "${asked[@]}"; do
	wait "$pid" || failed=$((failed + 1))
done
is "reloads asked for at once are all answered" "$failed" 0
for i in 1 2 3 4 5 6 7 8; do
	supctl start "many-$i" >/dev/null || failed=$((failed + 1))
done
is "and each has seen what was there when it was asked for" "$failed" 0
exits 0 "what was enabled among them is" supctl is-enabled three
exits 0 "each" supctl is-enabled four
supctl disable three >/dev/null
supctl disable four >/dev/null

# ---- enable, disable ----

exits 0 "a service is enabled" supctl enable one
ok "by a link" test -L "$units/default.target.wants/one.service"
exits 0 "that counts at once" supctl is-enabled one
supd_stop
supd_start
is "and it is run at the start" "$(field one cause)" start-up
exits 0 "and disabled" supctl disable one
exits 1 "that counts, too" supctl is-enabled one
supd_stop
supd_start
is "and it is not run" "$(field one cause)" ""
supd_stop
done_testing
