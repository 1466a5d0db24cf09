#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the daemon says of a timer that somebody asks about: status, why, is-healthy, never; enable, reset, trigger.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"
export TZ=UTC

timer() { # NAME LINES…
	{
		echo "[Timer]"
		printf '%s\n' "${@:2}"
	} >"$units/$1.timer"
}
# json VERB… EXPRESSION: what python makes of the answer, "a" there
json() {
	"$SUPCTL" "${@:1:$#-1}" --json | python3 -c "import json,sys; a=json.load(sys.stdin); print(${!#})"
}

service ok.service 'ExecStart=/bin/true'
timer ok 'OnStartupSec=0' 'OnUnitActiveSec=1h' 'OnCalendar=2090-01-01' 'RetrySec='
service bad.service 'ExecStart=/bin/sh -c "exit 3"'
timer bad 'OnStartupSec=0' 'RetrySec=1h 2h'
service lost.service 'ExecStart=/bin/false'
timer lost 'OnStartupSec=0' 'RetrySec='
service hand.service 'ExecStart=/bin/true'
timer hand 'OnUnitActiveSec=1h'
service past.service 'ExecStart=/bin/true'
timer past 'OnCalendar=2020-01-01'
service busy.service "ExecStart=/bin/sleep 1000"
timer busy 'OnCalendar=*:*:*'
timer broken 'OnCallendar=daily' 'WakeSystem=yes'
service stays.service 'ExecStart=/bin/true' 'RemainAfterExit=yes'
timer stays 'OnActiveSec=0'
service gone.service 'ExecStart=/bin/true'
timer gone 'OnActiveSec=0' 'RemainAfterElapse=no'
service killed.service 'ExecStart=/bin/sh -c "kill -9 $$$$"'
timer killed 'OnActiveSec=0'
service spent.service 'ExecStart=/bin/false'
timer spent 'OnActiveSec=0' 'RetrySec=0' 'RetryOn=exit timeout'
printf '[Unit]\nAssertPathExists=/nonexistent\n[Service]\nExecStart=/bin/true\n' >"$units/asserts.service"
timer asserts 'OnActiveSec=0'
printf '[Unit]\nRequires=needed.service\nAfter=needed.service\n[Service]\nExecStart=/bin/true\n' >"$units/depends.service"
timer depends 'OnActiveSec=0'
service needed.service 'ExecStart=/bin/false'
ln -s /dev/null "$units/masked.service"
timer masked 'OnCalendar=2090-01-01'
service daily.service 'ExecStart=/bin/true'
timer daily 'OnCalendar=daily' 'RandomizedDelaySec=1h' 'FixedRandomDelay=yes'

supd_start --experimental=timers
ok "a run that fails" log_has 'bad\.service\[[0-9a-f]+\]: failed exit 3'
ok "a moment is missed" log_has 'busy\.timer: missed: overlap'
ok "and one more" log_has 'lost\.service\[[0-9a-f]+\]: failed exit 1'
ok "one is killed" log_has 'killed\.service\[[0-9a-f]+\]: killed KILL'
ok "a ladder is spent" log_has 'spent\.service\[[0-9a-f]+\]: started by spent\.timer \(retry, attempt 2\)'
ok "one does not begin" log_has 'asserts\.service\[[0-9a-f]+\]: failed assert'
ok "one fails with another" log_has 'depends\.service\[[0-9a-f]+\]: dependency failed'
ok "and one remains" log_has 'stays\.service\[[0-9a-f]+\]: success'

# ---- why ----

exits 0 "why: a timer with several triggers" supctl why ok
says '^Next: .* left$' "when it elapses next"
says '^  by: OnUnitActiveSec=1h$' "by which rule"
says '^OnUnitActiveSec=1h .* next$' "which wins"
says '^OnCalendar=2090-01-01 .* later$' "over another"
says '^OnStartupSec=0 +- +elapses once, and has had its moment$' "and one that is spent"
says ' startup +success$' "what became of its moments"
is "in JSON" "$(json why ok.timer '[(c["rule"], c["chosen"], c["next"] is not None) for c in a["considered"]]')" \
	"[('OnStartupSec=0', False, False), ('OnUnitActiveSec=1h', True, True), ('OnCalendar=2090-01-01', False, True)]"
is "with the moments" "$(json why ok.timer '[(m["cause"], m["outcome"], m["attempts"]) for m in a["moments"]]')" \
	"[('startup', 'success', 1)]"

exits 0 "why: a ladder" supctl why bad.timer
says '^  by: retry$' "a retry is next"
says 'next: retry 1 of 2$' "the first of two"
says '^retry 1 of 2 in .* \(of: 1h, 2h\)$' "of which ladder"
says 'startup +failed exit 3$' "what failed"
exits 0 "why: overlap" supctl why busy.timer
says 'missed overlap' "moments are missed"
says '^waits for the end of busy\.service' "for what it waits"
exits 0 "why: a random delay" supctl why daily.timer
says 'next, with a random delay of ' "is part of the moment"
says '^a fixed random delay of up to 1h is part of each moment: ' "and what it may be"
exits 0 "why: never" supctl why past.timer
says '^Next: never: its last moment lies in the past$' "with the reason"
exits 0 "why: it waits for a person" supctl why hand.timer
says '^Next: never: waits for a first run, which no trigger of this timer begins$' "and says so"
exits 0 "why: a target that remains active" supctl why stays.timer
says '^stays\.service is active, and no run of this timer goes on; moments until it is inactive are missed$' "says that it does"
exits 0 "why: a target that is masked" supctl why masked.timer
says '^masked\.service is masked; moments until it is unmasked are missed$' "says what comes of it"
exits 0 "why: an end that is not retried" supctl why killed.timer
says '^last run ended .*: failed signal KILL, for good: such an end is not retried$' "says that it is not"
says '^a failed run is retried after 30s, 2min, 10min \(RetryOn=exit\)$' "and which is"
exits 0 "why: a ladder that is spent" supctl why spent.timer
says '^last run ended .*: failed exit 1, for good: no retry is left$' "says that it is"
says '\(RetryOn=exit timeout\)$' "and what it is for"
exits 4 "why: an invalid timer" supctl why broken.timer
says 'broken\.timer is invalid' "is told"
exits 4 "why: no such timer" supctl why nosuch
exits 4 "why: a service" supctl why ok.service
says 'ok\.service is no timer' "is told"
exits 2 "why: needs one" supctl why
told=$(for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	json timers '[t["next"] for t in a["timers"] if t["unit"] in ("ok.timer", "bad.timer")]'
done | sort -u)
is "a moment that has not moved is told the same each time" "$(wc -l <<<"$told")" 1

# ---- never, in the lists ----

exits 0 "the list" supctl timers
says '^never .* past\.timer ' "says never"
is "of one that is invalid it has the mistakes alone" "$(grep -c 'WakeSystem=' <<<"$output") $(grep -c 'OnCallendar' <<<"$output")" "0 1"
says '^- .* lost\.timer ' "but not of one that elapses again when supd starts"
is "a timer that does not remain after its elapse is left out" "$(grep -c 'gone\.timer' <<<"$output")" 0
exits 3 "it is inactive" supctl is-active gone.timer
exits 0 "but there" supctl timers --all
says ' gone\.timer ' "with --all"
is "JSON has a key for it" "$(json timers '[t["unit"] for t in a["timers"] if t["never"]]')" \
	"['hand.timer', 'past.timer']"
exits 4 "verify" supctl verify --unit-path="$units"
says 'past\.timer:[0-9]+: warning: OnCalendar=2020-01-01 lies in the past, so it never elapses' "warns of the past"
says 'hand\.timer:[0-9]+: warning: OnUnitActiveSec=1h waits for a first run, which no trigger of this timer begins' "and of what nothing begins"

# ---- status in words ----

exits 0 "status" supctl status bad.timer
says 'retry 1 of 2 in ' "tells the ladder"
says 'last run ended .*: failed exit 3' "and the last run"
exits 0 "status of a spent trigger" supctl status ok.timer
says 'Trigger: OnStartupSec=0, elapses once, and has had its moment' "says why it has no moment"

is "JSON has the exit status" "$(json timers '[(t["last_exit"], t["last_signal"]) for t in a["timers"] if t["unit"] == "spent.timer"]')" \
	"[(1, None)]"
is "or the signal" "$(json timers '[(t["last_exit"], t["last_signal"]) for t in a["timers"] if t["unit"] == "killed.timer"]')" \
	"[(None, 'KILL')]"

# ---- is-healthy ----

exits 1 "there are findings" supctl is-healthy
says '^broken\.timer: invalid: .*unknown key' "an invalid timer"
says '^hand\.timer: never elapses again' "one that waits for ever"
says '^past\.timer: never elapses again' "one of the past"
says '^lost\.timer: its last run failed for good with exit status 1' "one that has failed for good"
says '^busy\.timer: missed since its last run: overlap' "one that misses its moments"
is "and no others" "$(cut -d: -f1 <<<"$output" | sort | tr '\n' ' ')" \
	"asserts.timer broken.timer busy.timer depends.timer hand.timer killed.timer lost.timer needed.service past.timer spent.timer "
exits 0 "some are well" supctl is-healthy ok daily.timer bad.timer
is "and nothing is said of them" "$output" ""
exits 1 "one is not" supctl is-healthy ok lost.timer
exits 1 "--quiet says nothing" supctl is-healthy --quiet
is "at all" "$output" ""
exits 4 "an unknown one" supctl is-healthy nosuch
is "in JSON" "$(json is-healthy lost.timer '(a["healthy"], a["findings"][0]["unit"], a["findings"][0]["finding"])')" \
	"(False, 'lost.timer', 'failed')"
is "well in JSON" "$("$SUPCTL" is-healthy ok.timer --json)" '{"healthy":true,"findings":[]}'

# ---- commands ----

exits 0 "trigger by hand begins the interval" supctl trigger hand.timer
exits 0 "it is well now" supctl is-healthy hand.timer
exits 0 "its next elapse counts from there" supctl why hand.timer
says '^  by: OnUnitActiveSec=1h$' "by its rule"
says ' manual +success$' "the run is on record"
exits 0 "reset" supctl reset lost.timer
exits 0 "forgets that it failed" supctl is-healthy lost.timer
exits 0 "and its moments" supctl why lost.timer
says 'None of its moments has come' "in words"
exits 0 "disable" supctl disable daily.timer
is "is a drop-in" "$(grep -v '^#' "$units/daily.timer.d/50-enabled.conf" | tr '\n' ' ')" "[Timer] Enabled=no "
is "that counts at once" "$(json why daily.timer '(a["enabled"], a["next"], a["never"])')" "(False, None, False)"
exits 0 "enable" supctl enable daily.timer
is "does, too" "$(json why daily.timer '(a["enabled"], a["next"] is not None)')" "(True, True)"
exits 4 "an invalid timer cannot be enabled" supctl enable broken.timer
ok "nothing is written for it" test ! -e "$units/broken.timer.d"
exits 0 "and does not stand in the way of a reload" supctl reload
exits 0 "pause" supctl pause
exits 3 "why: timers are paused" supctl why ok.timer
says 'paused' "it says"
exits 0 "that is nobody's fault" supctl is-healthy ok.service
exits 1 "but a timer asked for by name is not well" supctl is-healthy ok.timer
says '^supd: timers are paused' "it says"
exits 0 "resume" supctl resume

timer busy 'OnCalendar=2090-01-01' 'Unit=daily.service'
timer broken 'OnCalendar=daily' 'Unit=ok.service'
exits 0 "a reload takes the target from a timer that waits for it" supctl reload
exits 0 "why" supctl why busy.timer
says '^waits for the end of a run of its former target \(calendar, attempt 1\)' "says for what it waits"
exits 1 "it cannot be triggered" supctl trigger busy.timer
says '^supctl: daily\.service waits for a run of this timer; busy\.timer was not triggered$' "and why"

# ---- a state that cannot be written ----

# A write under way may put a file into the folder that is being removed.
until rm -rf "$dir/state" 2>/dev/null; do :; done
exits 0 "work goes on without its state directory" supctl trigger ok.timer
ok "a warning is logged" log_has 'warning .*the state cannot be written'
exits 0 "the list" supctl timers
says '^not persisted since .*: the state cannot be written' "says so"
is "in JSON, too" "$(json timers 'a["subsystem"]["not_persisted_since"] is not None')" True
exits 0 "status" supctl status ok.timer
says 'not persisted since .*: No such file or directory' "says why"
exits 1 "that is not well" supctl is-healthy ok.timer
says '^supd: not persisted since ' "at all"
mkdir -m 0700 "$dir/state"
supd_kill

# ---- a disk that is read-only ----

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	real_supd=$SUPD
	SUPD=$dir/on-a-read-only-disk
	cat >"$SUPD" <<-EOF
		#!/bin/sh
		exec unshare -m sh -c 'mount --bind "$dir/state" "$dir/state" && mount -o remount,bind,ro "$dir/state" &&
			exec "$real_supd" "\$@"' supd "\$@"
	EOF
	chmod +x "$SUPD"
	supd_start --experimental=timers
	SUPD=$real_supd
	exits 0 "jobs run without a state" supctl trigger daily.timer
	is "that is one warning" "$(grep -c ' warning .*state' "$log")" 1
	ok "of supd" grep -q ' warning the state directory .* is on a read-only disk; nothing is kept over restarts$' "$log"
	exits 0 "status" supctl status daily.timer
	says 'not persisted since .*: Read-only file system' "says why"
	exits 1 "and it is not well" supctl is-healthy daily.timer
	supd_kill
else
	skip "a state on a read-only disk" "this needs root and unshare -m"
fi

exits 69 "no daemon" supctl is-healthy
exits 69 "no answer" supctl why ok.timer
done_testing
