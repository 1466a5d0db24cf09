#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supctl calendar, timespan and timestamp: no daemon, and the same words as systemd-analyze.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
supctl=$TOP_BUILDDIR/supctl
if [ "${ENABLE_TIMER:-yes}" != yes ]; then
	echo '1..0 # SKIP built without timers'
	exit 0
fi
if [ ! -e /usr/share/zoneinfo/Europe/Berlin ]; then
	echo '1..0 # SKIP tzdata is not installed'
	exit 0
fi
unset TZ TZDIR NO_COLOR
export TZ=UTC LC_ALL=C

status() { # COMMAND…: its exit status
	"$@" >/dev/null 2>&1
	echo $?
}

without_distance() { sed '/From now:/d'; }

is 'normal form and next elapse are told' \
	"$("$supctl" calendar --base-time='2026-11-21 09:30' 'Mon..Fri 9:0' | without_distance)" \
"  Original form: Mon..Fri 9:0
Normalized form: Mon..Fri *-*-* 09:00:00
    Next elapse: Mon 2026-11-23 09:00:00 UTC"
is 'original form is left out where it is the normal one' \
	"$("$supctl" calendar --base-time=@0 '*-*-* 09:00:00' | head -1)" \
	'Normalized form: *-*-* 09:00:00'
is 'iterations are numbered, UTC is shown beside local time, and a moved elapse is marked' \
	"$(TZ=Europe/Berlin "$supctl" calendar --base-time='2026-03-28 12:00' --iterations=2 2:30 |
		without_distance)" \
"  Original form: 2:30
Normalized form: *-*-* 02:30:00
    Next elapse: Sun 2026-03-29 03:00:00 CEST (moved: the local time does not exist that day)
       (in UTC): Sun 2026-03-29 01:00:00 UTC
       Iter. #2: Mon 2026-03-30 02:30:00 CEST
       (in UTC): Mon 2026-03-30 00:30:00 UTC"
is 'a TZ rule is a zone, too' \
	"$(TZ='XYZ-3:30' "$supctl" calendar --base-time='2026-03-28 12:00' 14:00 | sed -n 3p)" \
	'    Next elapse: Sat 2026-03-28 14:00:00 XYZ'
is 'an impossible date never elapses' "$("$supctl" calendar '*-02-30' | sed -n 3p)" \
	'    Next elapse: never'
is 'JSON has an object per expression, in order' \
	"$(TZ=Europe/Berlin "$supctl" calendar --json --base-time='2026-10-25 00:00' --iterations=2 \
		'*:30' 25:00 '2020-1-1')" \
'[{"expression":"*:30","normalized":"*-*-* *:30:00","elapses":[{"realtime_usec":1792881000000000,"local":"Sun 2026-10-25 00:30:00 CEST","utc":"Sat 2026-10-24 22:30:00 UTC","note":null},{"realtime_usec":1792884600000000,"local":"Sun 2026-10-25 01:30:00 CEST","utc":"Sat 2026-10-24 23:30:00 UTC","note":null}]},{"expression":"25:00","error":"hour 25 is out of range (0 to 23)","column":1},{"expression":"2020-1-1","normalized":"2020-01-01 00:00:00","elapses":[]}]'
is 'both passes of a repeated hour are marked' \
	"$(TZ=Europe/Berlin "$supctl" calendar --json=short --base-time='@1792884600' --iterations=3 \
		'*:30' | grep -o '"note":[^}]*' | tr '\n' ' ')" '"note":"fold" "note":"fold" "note":null '
is 'pretty JSON has lines' "$("$supctl" calendar --json=pretty daily | sed -n 3p)" \
	'    "expression": "daily",'
is 'a missing zone names tzdata' "$("$supctl" calendar '9:00 Mars/Base' 2>&1)" \
	"supctl calendar: '9:00 Mars/Base': column 6: no time zone 'Mars/Base' in the system's database (is the package tzdata installed?)"
is 'an error is one line, without control characters' \
	"$("$supctl" calendar $'9:00\e[31m\n' 2>&1 | tr -d '[:print:]' | wc -c)" 1
is 'a bad TZ is told, and UTC is used' \
	"$(TZ=Mars/Base "$supctl" calendar --base-time=@0 9:00 2>&1 | sed -n '1p;4p' | cut -c 1-60)" \
"supctl calendar: no time zone 'Mars/Base' in the system's da
    Next elapse: Thu 1970-01-01 09:00:00 UTC"

is 'exit status 0' "$(status "$supctl" calendar daily)" 0
is 'exit status 1 on a bad expression among good ones' "$(status "$supctl" calendar daily foo 1:0)" 1
is 'exit status 1 as JSON, too' "$(status "$supctl" calendar --json foo)" 1
is 'exit status 2 without expressions' "$(status "$supctl" calendar)" 2
is 'exit status 2 on an unknown option' "$(status "$supctl" calendar --foo daily)" 2
is 'exit status 2 on a bad base time' "$(status "$supctl" calendar --base-time=foo daily)" 2
is 'exit status 2 on a bad number' "$(status "$supctl" calendar --iterations=x daily)" 2
is 'exit status 0 for help' "$(status "$supctl" calendar --help)" 0
for time in '@1795253400' '@1795253400.25' '2026-11-21 09:30:00.25 UTC' '09:30' tomorrow '+5min' \
	'1h ago' '2026-11-21 09:30 Asia/Tokyo'; do
	is "base time '$time' is taken" "$(status "$supctl" calendar --base-time="$time" daily)" 0
done

is 'a time span is told' "$("$supctl" timespan 90min)" \
'Original: 90min
      us: 5400000000
   Human: 1h 30min'
is 'time spans as JSON' "$("$supctl" timespan --json 1.5s infinity 5x)" \
'[{"expression":"1.5s","usec":1500000,"human":"1.500000s"},{"expression":"infinity","usec":null,"human":"infinity"},{"expression":"5x","error":"unknown unit of time at '"'x'"'","column":2}]'
is 'a timestamp is told' "$(TZ=Europe/Berlin "$supctl" timestamp '2026-11-21 10:30' | without_distance)" \
'  Original form: 2026-11-21 10:30
Normalized form: Sat 2026-11-21 10:30:00 CET
       (in UTC): Sat 2026-11-21 09:30:00 UTC
   UNIX seconds: @1795253400'
is 'timestamps as JSON' "$("$supctl" timestamp --json @5.25 foo | cut -c 1-150)" \
'[{"expression":"@5.25","realtime_usec":5250000,"local":"Thu 1970-01-01 00:00:05.250000 UTC","utc":"Thu 1970-01-01 00:00:05.250000 UTC"},{"expression":'

if systemd-analyze --version 2>/dev/null | grep -q '^systemd 252 '; then
	for verb in calendar timespan timestamp; do
		text='2030-01-01 12:00'
		[ "$verb" != timespan ] || text='3month 2w 5.25s'
		is "systemd-analyze $verb says the same" "$("$supctl" "$verb" "$text")" \
			"$(SYSTEMD_COLORS=0 systemd-analyze "$verb" "$text")"
	done
else
	skip 'systemd-analyze says the same' 'version 252 is not installed'
fi
done_testing
