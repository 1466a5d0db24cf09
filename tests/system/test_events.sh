#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What happens is told: in the log, to who asks, and to who follows, from one table.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh"

service well.service 'ExecStart=/bin/true'
service badly.service "ExecStart=/bin/sh -c 'exit 3'"
timers=
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	timers=--experimental=timers
	service busy.service 'ExecStart=/bin/sleep 1000'
	printf '[Timer]\nOnCalendar=*:*:*\nAccuracySec=1us\n' >"$units/busy.timer"
fi

# values KEY EVENTS: of each event, in a line.
values() {
	python3 -c 'import json, sys
print(*(json.loads(line).get(sys.argv[1]) for line in sys.argv[2].splitlines()))' "$1" "$2"
}
# Is there a line in a file that grows? It says so within 30 seconds, or not at all.
comes() { # FILE PATTERN
	for _ in $(seq 300); do
		! grep -qE "$2" "$1" || return 0
		sleep 0.1
	done
	return 1
}

# shellcheck disable=SC2086 # no option, or one
supd_start $timers
supctl events -f --json --type=started,finished 'w*' >"$dir/followed" &
follower=$!
# It follows once it has told of a run; until then there are more of them.
for _ in $(seq 300); do
	supctl start well.service >/dev/null
	! grep -q finished "$dir/followed" || break
	sleep 0.1
done
ok "who follows is told as it happens" comes "$dir/followed" '"type":"finished".*"unit":"well.service"'
supctl start badly.service >/dev/null 2>&1

all=$(supctl events --json --unit=badly)
is "a run begins and ends" "$(values type "$all")" "started finished"
is "with its cause" "$(values cause "$all")" "manual manual"
is "its result" "$(values result "$all")" "None exit-code"
is "the words of the log" "$(values message "$all")" "started (manual) $(values message "$(supctl events --json -n 1 badly)")"
ok "which are there, too" log_has 'notice badly\.service\[[0-9a-f]+\]: failed exit 3 after '
is "and the level" "$(values level "$all")" "info notice"
is "-n counts the last" "$(values type "$(supctl events --json -n 1 badly)")" finished
exits 0 "for people" supctl events badly
says '^... .. ..:..:.. finished       badly\.service: failed exit 3 after ' "a line each"
is "patterns leave out the rest" "$(supctl events 'none*')" ""
is "who follows others does not hear of it" "$(grep -c badly "$dir/followed")" 0

supctl pause >/dev/null
supctl resume >/dev/null
supctl reload >/dev/null
is "of supd itself" "$(values type "$(supctl events --json --type=paused,resumed,reloaded)")" "paused resumed reloaded"
is "that is of no unit" "$(values unit "$(supctl events --json --type=paused)")" None
echo '[Servise]' >"$units/well.service"
supctl reload >/dev/null 2>&1
is "a reload that is refused" "$(values type "$(supctl events --json -n 1 --type=reloaded,reload-refused)")" reload-refused
ok "is in the log once" test "$(grep -c 'reload refused for 1 mistake;' "$log")" = 1

exits 2 "types are words" supctl events --type=Bad
says "not 'Bad'" "and it says so"
exits 2 "lines are a number" supctl events -n none

if [ -n "$timers" ]; then
	ok "a moment is missed" log_has 'busy\.timer: missed: overlap'
	is "and told with its reason" "$(values reason "$(supctl events --json -n 1 --type=missed busy.timer)")" overlap
	supctl events -n all --type=elapsed >"$dir/elapsed"
	ok "a timer elapses" grep -q 'elapsed .* busy\.timer: elapsed (calendar)' "$dir/elapsed"
fi

supd_stop
wait "$follower"
ok "who follows hears that supd ends" test "$?" -ne 0
done_testing
