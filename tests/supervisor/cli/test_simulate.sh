#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supctl simulate: the real scheduler on a clock of its own, with no daemon and nothing run.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
supctl=$TOP_BUILDDIR/supctl
[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all 'built without timers'
[ -e /usr/share/zoneinfo/Europe/Berlin ] || skip_all 'tzdata is not installed'
unset TZDIR NO_COLOR
export TZ=Europe/Berlin LC_ALL=C

umask 022
dir=$(mktemp -d "${TMPDIR:-/tmp}/supd-test-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
units=$dir/units
mkdir "$units"

service() { # NAME LINE…
	{ echo '[Service]'; printf '%s\n' "${@:2}"; } >"$units/$1.service"
}
timer() { # NAME LINE…
	{ echo '[Timer]'; printf '%s\n' "${@:2}"; } >"$units/$1.timer"
}
simulate() { "$supctl" simulate --unit-path="$units" --no-legend "$@"; }
rows() { simulate "$@" | sed -E 's/ +$//; s/ {2,}/ /g'; } # without the table's padding
status() { "$@" >/dev/null 2>&1; echo $?; }
# json EXPRESSION OPTION…: what the expression makes of the answer, "a" there
json() {
	simulate --json "${@:2}" 2>/dev/null | python3 -c "import json,sys; a=json.load(sys.stdin); print($1)"
}

service daily "ExecStart=/bin/touch $dir/it-ran"
timer daily 'OnCalendar=*-*-* 02:30'
service hourly 'ExecStart=/bin/true'
timer hourly 'OnCalendar=hourly'
service often 'ExecStart=/bin/true'
timer often 'OnCalendar=*:0/20'

# ---- changes of the clocks ----

is 'a time that does not exist is moved to the end of the gap' \
	"$(rows --from='2026-03-28 12:00' --to='2026-03-30 12:00' daily)" \
"Sun 2026-03-29 03:00:00 CEST daily.timer daily.service calendar success (moved: the local time does not exist that day)
Mon 2026-03-30 02:30:00 CEST daily.timer daily.service calendar success"
is 'a time that occurs twice is run for once, each hour in both passes' \
	"$(rows --from='2026-10-25 01:30' --to='2026-10-25 03:30' daily hourly)" \
"Sun 2026-10-25 02:00:00 CEST hourly.timer hourly.service calendar success (the local time occurs twice that day)
Sun 2026-10-25 02:30:00 CEST daily.timer daily.service calendar success (the local time occurs twice that day)
Sun 2026-10-25 02:00:00 CET hourly.timer hourly.service calendar success (the local time occurs twice that day)
Sun 2026-10-25 03:00:00 CET hourly.timer hourly.service calendar success"
is 'in JSON that is a word' \
	"$(json '[(r["unit"], r["time"], r["dst"]) for r in a]' --from='2026-03-28 12:00' --to='+2d' daily)" \
	"[('daily.timer', 1774746000000000, 'gap'), ('daily.timer', 1774830600000000, None)]"
ok 'nothing is run' test ! -e "$dir/it-ran"

# ---- failures ----

is 'a failing job goes down the ladder' \
	"$(rows --from='2026-07-01' --to='+6h' --fail=daily:3 daily)" \
"Wed 2026-07-01 02:30:00 CEST daily.timer daily.service calendar failed exit 3, retry 1/3 in 30s
Wed 2026-07-01 02:30:30 CEST daily.timer daily.service retry failed exit 3, retry 2/3 in 2min
Wed 2026-07-01 02:32:30 CEST daily.timer daily.service retry failed exit 3, retry 3/3 in 10min
Wed 2026-07-01 02:42:30 CEST daily.timer daily.service retry failed exit 3, failed for good"
is 'the timer can be named for its service' \
	"$(rows --from='2026-07-01' --to='+6h' --fail=daily.timer:3 daily | wc -l)" 4
is 'in JSON, too' \
	"$(json '[(r["attempt"], r["exit_status"], r["failed_for_good"], r["retry"] and r["retry"]["attempt"]) for r in a]' \
		--from='2026-07-01' --to='+6h' --fail=daily:3 daily)" \
	"[(1, 3, False, 1), (2, 3, False, 2), (3, 3, False, 3), (4, 3, True, None)]"
is 'the times of a retry are told' \
	"$(json '(a[0]["retry"]["at"] - a[0]["ended"], a[1]["scheduled"] == a[0]["retry"]["at"])' \
		--from='2026-07-01' --to='+6h' --fail=daily:3 daily)" \
	"(30000000, True)"

# ---- overlap ----

is 'a moment while the job runs is missed' \
	"$(rows --from='2026-07-01' --to='+1h' --take=often:25min often)" \
"Wed 2026-07-01 00:20:00 CEST often.timer often.service calendar success after 25min
Wed 2026-07-01 00:40:00 CEST often.timer often.service missed overlap
Wed 2026-07-01 01:00:00 CEST often.timer often.service calendar still running at the end"
is 'in JSON with its reason' \
	"$(json '[(r["event"], r.get("reason"), r.get("result"), r.get("ended") is None) for r in a]' \
		--from='2026-07-01' --to='+1h' --take=often:25min often)" \
	"[('run', None, 'success', False), ('missed', 'overlap', None, True), ('run', None, None, True)]"
service slow 'ExecStart=/bin/true' TimeoutStartSec=10s
timer slow 'OnCalendar=02:00'
is 'a job that takes longer than it may is ended, as it would be' \
	"$(rows --from='2026-07-01' --to='+6h' --take=slow:1h slow)" \
	"Wed 2026-07-01 02:00:00 CEST slow.timer slow.service calendar timeout after 10s, failed for good"

# ---- the clock is set ----

is 'the clock is set ahead over moments: one run makes up for them' \
	"$(rows --from='2026-07-01' --to='+4h' --clock-jump='2026-07-01 01:30,+90min' daily hourly)" \
"Wed 2026-07-01 01:00:00 CEST hourly.timer hourly.service calendar success
Wed 2026-07-01 03:00:00 CEST - - clock-jump the clock is set by +1h 30min
Wed 2026-07-01 03:00:00 CEST hourly.timer hourly.service missed clock-jump, scheduled Wed 2026-07-01 02:00:00 CEST
Wed 2026-07-01 03:00:00 CEST daily.timer daily.service catch-up success, scheduled Wed 2026-07-01 02:30:00 CEST
Wed 2026-07-01 03:00:02 CEST hourly.timer hourly.service catch-up success, scheduled Wed 2026-07-01 03:00:00 CEST
Wed 2026-07-01 04:00:00 CEST hourly.timer hourly.service calendar success
Wed 2026-07-01 05:00:00 CEST hourly.timer hourly.service calendar success"
is 'the clock is set back: nothing runs twice' \
	"$(json '[r["event"] + " " + str(r["scheduled"] and r["scheduled"] // 3600000000 % 24) for r in a]' \
		--from='2026-07-01 00:00 UTC' --to='+5h' --clock-jump='2026-07-01 03:10 UTC,-2h' hourly)" \
	"['run 1', 'run 2', 'run 3', 'clock-jump None', 'run 4', 'run 5']"

# ---- what is shown, and how much ----

is 'without units, all are shown; the end counts' \
	"$(rows --from='2026-07-01 02:00' --to='2026-07-01 03:00' | cut -d' ' -f3,5 | sort | uniq -c | sed 's/^ *//')" \
"1 02:20:00 often.timer
1 02:30:00 daily.timer
1 02:40:00 often.timer
1 03:00:00 hourly.timer
1 03:00:00 often.timer"
is 'the legend counts' \
	"$("$supctl" simulate --unit-path="$units" --from='2026-07-01' --to='+6h' --fail=daily:1 daily | tail -1)" \
	'4 runs, 1 failed for good, 0 moments missed.'
is 'a list that is cut says so' \
	"$(simulate --from='2026-07-01' --limit=2 often 2>&1 | sed -E 's/ {2,}/ /g' | tail -2)" \
"Wed 2026-07-01 01:00:00 CEST - - cut cut after 2 lines
supctl: cut after 2 lines, at Wed 2026-07-01 01:00:00 CEST (--limit= allows more, UNITs and --to= ask for less)"
is 'where the next line would come: what has ended before has' \
	"$(json '[r.get("result") for r in a]' --from='2026-07-01' --limit=2 --take=often:10min often)" \
	"['success', 'success', None]"
is 'a list that is as long as it may be is not cut' "$(json '[r["event"] for r in a]' --from='2026-07-01' --to=+1h --limit=3 \
	often)" "['run', 'run', 'run']"
is 'in JSON, too' "$(json 'a[-1]["event"], a[-1]["count"]' --from='2026-07-01' --limit=2 often)" 'cut 2'
is 'nothing happens: an empty array' "$(simulate --json --from='2026-07-01 12:00' --to='+1h' daily)" '[]'

service once 'ExecStart=/bin/true'
timer once 'OnStartupSec=1min' 'OnUnitActiveSec=1d'
is 'it begins as after boot, with nothing on record' \
	"$(rows --from='2026-07-01 12:00' --to='+2d' once | cut -d' ' -f2,3,7)" \
"2026-07-01 12:01:00 startup
2026-07-02 12:01:00 unit-active"
service boot 'ExecStart=/bin/true'
mkdir "$units/default.target.wants"
ln -s ../boot.service "$units/default.target.wants/boot.service"
is 'services that start with supd do so' \
	"$(rows --from='2026-07-01 12:00' --to='+1h' boot)" \
	'Wed 2026-07-01 12:00:00 CEST - boot.service start-up success'

is 'and take their time and fail' \
	"$(rows --from='2026-07-01 12:00' --to='+1h' --take=boot:2min --fail=boot.service:3 boot)" \
	'Wed 2026-07-01 12:00:00 CEST - boot.service start-up failed exit 3 after 2min'
service again 'ExecStart=/bin/true' 'Restart=on-failure' 'RestartPreventExitStatus=9' 'RestartSec=1min'
timer again1 'OnCalendar=hourly' 'Unit=again.service' 'RetrySec='
is 'what its service restarts has not failed for good; a timer may be named without its suffix' \
	"$(rows --from='2026-07-01 12:00' --to='+61min' --fail=again1:3 again | cut -d' ' -f3,7-)" \
"13:00:00 calendar failed exit 3, restarted in 1min
13:01:00 restart failed exit 3, restarted in 1min, scheduled Wed 2026-07-01 13:00:00 CEST"
is 'in JSON, too' \
	"$(json '[(r["failed_for_good"], r["restart_in"]) for r in a]' --from='2026-07-01 12:00' --to='+1h' --fail=again:3 again)
$(json '[(r["failed_for_good"], r["restart_in"]) for r in a]' --from='2026-07-01 12:00' --to='+1h' --fail=again:9 again)" \
"[(False, 60000000)]
[(True, None)]"

# ---- mistakes ----

is 'an unknown unit' "$(status simulate nosuch)" 4
is 'an unknown unit that is to fail' "$(status simulate --fail=nosuch:1)" 4
is 'an end before the beginning' "$(status simulate --to=-1d)" 2
is 'a time that is none' "$(status simulate --from=whenever)" 2
is 'an exit status that is none' "$(status simulate --fail=daily:256)" 2
is 'a span that is none' "$(status simulate --take=daily:soon)" 2
is 'a jump without its sign' "$(status simulate --clock-jump='12:00,1h')" 2
is 'an option that there is not' "$(status simulate --form=now)" 2
is 'they are told in JSON where that is asked for' \
	"$(simulate --json nosuch 2>&1)" \
	'{"error":true,"message":"no such unit: nosuch.timer","exitcode":4}'
timer bad 'OnCalendar=never'
is 'an invalid unit is left out, and that is said' \
	"$(simulate --from='2026-07-01 12:00' --to='+1min' 2>&1 >/dev/null)" \
	'supctl: 1 unit is invalid and left out (supctl verify tells why)'
is 'unless it is asked for' "$(status simulate bad)" 4
is 'by its name: what a pattern matches besides is simulated' "$(status simulate '[bd]*')" 0
is 'a pattern that matches nothing sound' "$(simulate 'ba[d]' 2>&1)" "supctl: no unit matches 'ba[d]'"
is 'is one that matches nothing' "$(status simulate 'z*')" 4

# ---- times ----

service tick 'ExecStart=/bin/true'
timer tick 'OnCalendar=*:0/10'
is '+SPAN and SPAN left count from the beginning' \
	"$(for to in +40min '40min left'; do json 'len(a)' --from='2026-07-01' --to="$to" tick; done)" '4
4'
is 'so does the time of a jump' \
	"$(json '[r["event"] for r in a]' --from='2026-07-01' --to=+25min --clock-jump=+15min,-5min tick)" \
	"['run', 'clock-jump', 'run']"
is 'all other times are what they are everywhere' \
	"$(for to in now '5min ago' today; do status simulate --from=yesterday --limit=1 --to="$to" tick; done | sort -u)" 0
is 'an end in the past needs a beginning before it' "$(status simulate --to='5min ago')" 2

done_testing
