#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supctl env tells what a run finds: the same variables with the same values, the id of the run apart.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

printf '# of the job\nFILE=from the file\nA=later\nPATTERN=2\n' >"$dir/env.1"
printf 'PATTERN=3\nno assignment\n' >"$dir/env.2"
service job.service 'Environment=A=1 "B=two words" C=gone' "EnvironmentFile=$dir/env.*" "EnvironmentFile=-$dir/none" \
	'PassEnvironment=OF_THE_DAEMON' 'UnsetEnvironment=C' "ExecStart=/bin/sh -c 'env -0 >$dir/found'"
service person.service 'User=nobody' "EnvironmentFile=-$dir/none" 'ExecStart=/bin/true'
service lines.service "ExecStart=/bin/true" 'Environment="TWO=first\nsecond" "BELL=\a"'
service missing.service "EnvironmentFile=$dir/none" 'ExecStart=/bin/true'
service stopper.service 'RemainAfterExit=yes' 'Environment=S=1' 'ExecStop=/bin/true'
service typo.service 'ExecStrat=/bin/true'
mkfifo "$dir/pipe"
service pipe.service "EnvironmentFile=$dir/pipe" 'ExecStart=/bin/true'

export OF_THE_DAEMON='is passed on' NOT_FOR_SERVICES=x
supd_start

# without_id FILE: sorted, one variable a line.
without_id() {
	tr '\n\0' ' \n' <"$1" | grep -vE '^(INVOCATION_ID|PWD|SHLVL|_)=' | sort
}

exits 0 "a run finds its environment" supctl start job
supctl env --null job >"$dir/told" 2>"$dir/errors"
is "env tells it" "$?" 0
is "all of it, and nothing else" "$(without_id "$dir/told")" "$(without_id "$dir/found")"
is "what the service says is among it" "$(grep -zcE '^(FILE|A|B|OF_THE_DAEMON|PATTERN)=' "$dir/told")" 5
ok "a line that is passed over is told" grep -q "env.2:2: a line without '='" "$dir/errors"
exits 0 "for people" supctl env job
says '^A=later$' "what counts at last is shown"
says '^INVOCATION_ID=[0-9a-f]{32}$' "a run has an id"
says '^SUPD_CAUSE=manual$' "and a cause"
id=$(supctl env job 2>/dev/null | grep ^INVOCATION_ID=)
ok "that is no run's" test "$id" != "INVOCATION_ID=$(field job run_id)"
exits 0 "control characters" supctl env lines
says '^TWO=first\\nsecond$' "are escaped"
exits 0 "as JSON" supctl env --json lines
says '"TWO":"first\\nsecond"' "it is an object"
is "with each variable once" "$(grep -o '"PATH":' <<<"$output" | wc -l)" 1
if [ "$(id -u)" = 0 ]; then
	exits 0 "a service of another user" supctl env person
	says '^USER=nobody$' "is told who it is"
	ok "others may not look" bash -c '! setpriv --reuid=65534 --regid=65534 --clear-groups "$0" env job' "$SUPCTL"
fi

exits 1 "a missing file" supctl env missing
says 'missing.service could not be run: environment: No such file or directory' "is told as a run would fail"
exits 1 "a pipe in place of a file" supctl env pipe
exits 0 "a service without ExecStart=" supctl env stopper
says '^S=1$' "has an environment as well"
exits 4 "an invalid unit has none" supctl env typo
exits 4 "nor has an unknown one" supctl env nothing
exits 2 "a unit is needed" supctl env

supd_stop
done_testing
