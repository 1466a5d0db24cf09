#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What ran and what did not is on record, whatever becomes of supd; supctl shows it with and without a daemon.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

go=$dir/go
mkfifo "$go"
cat >"$dir/speaks" <<'END'
#!/bin/sh
echo "first line"
printf 'no \033[31mcolour\n'
exit 3
END
chmod 755 "$dir/speaks"
service well.service 'ExecStart=/bin/true'
service badly.service "ExecStart=$dir/speaks"
service skipped.service 'ExecCondition=/bin/false' 'ExecStart=/bin/true'
service waits.service "ExecStart=/bin/sh -c 'read x <$go'"
timers=
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	timers=--experimental=timers
	printf '[Timer]\nOnActiveSec=0\nUnit=waits.service\nRetrySec=\n' >"$units/starts.timer"
	printf '[Timer]\nOnCalendar=*-*-* *:*:*\nUnit=masked.service\n' >"$units/masked.timer"
	: >"$units/masked.service"
fi

history() {
	supctl history --json "$@"
}

# field KEY JSON: the values of a key, a line each.
field() {
	python3 -c 'import json, sys
for entry in json.loads(sys.argv[2]):
	print(entry.get(sys.argv[1]))' "$1" "$2"
}

# shellcheck disable=SC2086 # no option, or one
supd_start $timers
exits 0 "before anything ran" history 'none*'
is "there is nothing on record" "$output" '[]'
supctl start well.service badly.service skipped.service >/dev/null 2>&1
is "each run is on record" "$(field unit "$(history well.service badly.service skipped.service)" | sort | xargs)" \
	"badly.service skipped.service well.service"
is "and what became of it" "$(for u in well badly skipped; do field outcome "$(history $u)"; done | xargs)" \
	"success failed skipped"
is "in words" "$(field words "$(history badly)")" "failed exit 3"
is "and its cause" "$(field cause "$(history badly)")" manual
is "--result= leaves out the rest" "$(field unit "$(history --result=failed,skipped 'b*' 'w*')")" badly.service
exits 2 "another word is refused" supctl history --result=bad
says "not 'bad'" "with what there is"
supctl start well.service >/dev/null 2>&1
is "-n counts" "$(field unit "$(history -n 1 well badly)")" well.service
is "--offset goes on" "$(field unit "$(history -n 1 --offset=1 well)")" well.service
is "nothing is on record before its time" "$(history --until=-1d)" '[]'
id=$(field run_id "$(history badly)")
exits 0 "one run, whole" supctl history --run="${id:0:8}"
says 'output: first line' "with its output"
says 'output: no \\x1b\[31mcolour' "escaped"
exits 4 "no such run" supctl history --run=0123456789abcdef
exits 0 "a table for people" supctl history badly
says '^TIME +LATE +TOOK +UNIT +CAUSE +RESULT +CPU +MEMORY +RUN$' "with a header"
says "manual +failed exit 3 .*${id:0:8}$" "and the run"

is "runs are counted" "$(field runs "$(supctl stats --json well badly)" | xargs)" "1 2"
exits 0 "for a scraper" supctl stats --openmetrics
says '^supd_runs_total\{unit="well.service",outcome="success"\} 2$' "counters"
says '^supd_up 1$' "the daemon is up"
is "it ends as it must" "$(tail -n1 <<<"$output")" '# EOF'
exits 2 "counters do not go back" supctl stats --openmetrics --since=-1d

if [ -n "$timers" ]; then
	log_has 'masked.timer: missed: masked'
	is "a miss is on record" "$(field reason "$(history --result=missed -n 1 masked.timer)")" masked
	is "of the service that did not run" "$(field unit "$(history --result=missed -n 1 masked.timer)")" masked.service
	exits 0 "the stats tell why" supctl stats masked.service
	says 'missed for masked: [0-9]+' "by the reason"
	supctl stop waits.service >/dev/null 2>&1
	is "a timer's runs are found by its name" "$(field unit "$(history starts.timer)")" waits.service
	is "stopped on request" "$(field outcome "$(history starts.timer)")" stopped
fi

# Killed while a run goes on: its end was never seen.
supctl start --no-block waits.service >/dev/null
log_has 'waits.service.*: started \(manual\)'
is "it goes on" "$(field outcome "$(history -n 1 waits)")" running
supd_kill
supd_start
log_has 'run was going on when supd ended last'
is "after a kill it was interrupted" "$(field outcome "$(history -n 1 waits)")" interrupted
is "and everything else is there" "$(field outcome "$(history well)" | xargs)" "success success"
supd_stop

exits 0 "without a daemon" supctl history --state-dir="$dir/state" well
is "the file is read" "$(grep -c well.service <<<"$output")" 2
exits 69 "where there is none" supctl history --state-dir="$dir/none"
says 'no supd answers, and there is no history' "that is said"
is "nobody else may read it" "$(stat -c %a "$dir/state/history.db")" 600

# Damaged: set aside, a new one begun.
head -c 5000 /dev/urandom >"$dir/state/history.db"
supd_start
log_has 'the history was damaged: it is set aside as .*history.db.bad-'
is "a gap says so" "$(field reason "$(history --result=gap)")" damaged
supctl start well.service >/dev/null
is "and it goes on" "$(field outcome "$(history well)")" success
supd_stop

# Off.
printf '[Manager]\nHistory=no\n' >"$dir/conf"
supd_start --config="$dir/conf"
exits 1 "without a history" supctl history
says 'keeps no history' "that is said"
supd_stop
done_testing
