#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One daemon a directory: the second refuses, names the first, and touches nothing.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

service job.service 'ExecStart=/bin/true'
supd_start
first=$supd_pid
# The journal of the history comes and goes.
listing=$(cd "$dir" && find state run ! -name 'history.db-*' | sort)

exits 1 "a second supd on the same directories does not start" "$SUPD" $(supd_args)
says "another supd \(pid $first\) uses the (runtime|state) directory" "and names the first"
exits 1 "nor one with another runtime directory" \
	"$SUPD" --unit-path="$units" --state-dir="$dir/state" --runtime-dir="$dir/run2"
says "another supd \(pid $first\) uses the state directory" "and names the first"
exits 1 "nor one with another state directory" \
	"$SUPD" --unit-path="$units" --state-dir="$dir/state2" --runtime-dir="$dir/run"
says "another supd \(pid $first\) uses the runtime directory" "and names the first"
ok "it made no state directory on the way" test ! -e "$dir/state2"
is "nothing in the directories has changed" "$(cd "$dir" && find state run ! -name 'history.db-*' | sort)" "$listing"
exits 0 "the first goes on" supctl start job

supd_kill
supd_start
exits 0 "after a kill -9 the next one starts on the same directories" supctl start job
supd_stop
exits 69 "without a daemon supctl says so" supctl list
done_testing
