#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What happens is told: in the log, to who asks, and to who follows, from one table.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh"

service well.service 'ExecStart=/bin/true'
service badly.service "ExecStart=/bin/sh -c 'exit 3'"
service long.service 'ExecStart=/bin/sleep 1000'
service slow.service 'ExecStart=/bin/sleep 1000' 'TimeoutStartSec=100ms'
printf '[Install]\nWantedBy=default.target\n' >>"$units/long.service"
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
is "and how it began" "$(values type "$(supctl events --json -n all --type=starting,running)")" "starting running"

supctl start --no-block long.service >/dev/null
supctl stop long.service >/dev/null
supctl start slow.service >/dev/null 2>&1
is "why a run is stopped" "$(values reason "$(supctl events --json --type=stopping)")" "request timeout"
ok "is in the log" log_has 'info slow\.service\[[0-9a-f]+\]: stopping \(timeout\)'

supctl enable long.service >/dev/null
supctl enable long.service >/dev/null
supctl disable long.service >/dev/null
supctl mask none.service >/dev/null
supctl unmask none.service >/dev/null
is "what an admin does to units, once each" \
	"$(values type "$(supctl events --json --type=enabled,disabled,masked,unmasked)")" "enabled disabled masked unmasked"
is "and until when" "$(values runtime "$(supctl events --json --type=enabled,masked)")" "False False"
ok "that is in the log" log_has 'notice none\.service: masked by an admin$'

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
	supctl skip busy.timer next >/dev/null
	supctl unskip busy.timer next >/dev/null
	is "what is skipped and is not" "$(values type "$(supctl events --json --type=skip,unskip busy.timer)")" "skip unskip"
	ok "is in the log with its moment" log_has 'notice busy\.timer: [A-Z][a-z][a-z] 20.* will be skipped, as an admin asked'
	is "once" "$(grep -c 'will be skipped' "$log")" 1
	supctl events -n all --type=elapsed >"$dir/elapsed"
	ok "a timer elapses" grep -q 'elapsed .* busy\.timer: elapsed (calendar)' "$dir/elapsed"
fi

supctl events -f --json --type=shutdown,ended,resumed >"$dir/end" &
last=$!
for _ in $(seq 300); do
	supctl pause >/dev/null
	supctl resume >/dev/null
	! grep -q resumed "$dir/end" || break
	sleep 0.1
done
supd_stop
wait "$last"
is "who follows hears that supd is told to end" "$(grep -c '"type":"shutdown".*"reason":"SIGTERM"' "$dir/end")" 1
ok "the log, too" grep -q ' notice stopping: SIGTERM$' "$log"
is "once" "$(grep -cE ' notice (stopping: SIGTERM|ended|running)$' "$log")" 3
wait "$follower"
ok "who follows hears that supd ends" test "$?" -ne 0
done_testing
