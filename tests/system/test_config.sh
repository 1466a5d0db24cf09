#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supd.conf and the command line: what is wrong is said, all of it, and nothing is started by it.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

conf=$dir/supd.conf
config() {
	printf '%s\n' "$@" >"$conf"
}

config '[Manager]' "UnitPath=$units" 'LogLevel=debug' '[Experimental]' 'Timers=no' '[Timer]' 'RetrySec=30s 2min'
exits 0 "a good supd.conf passes --check" "$SUPD" --check --config="$conf"
is "and nothing is said" "$output" ""

config '[Manager]' 'UnitPat=/x' 'UnitPath=relative' 'LogLevel=loud' 'ReadAccess=group:no-such-group-here' '[Managr]' 'A=b' \
	'[Timer]' 'CatchUpSec=often'
exits 1 "a bad one does not" "$SUPD" --check --config="$conf"
says "supd.conf:2: unknown key 'UnitPat' in section \[Manager\] \(did you mean UnitPath=\?\)" "unknown keys are told"
says "supd.conf:3: UnitPath= wants absolute paths" "and bad paths"
says "supd.conf:4: LogLevel= wants error, warning" "and bad words"
says "ReadAccess=group:no-such-group-here: there is no such group" "and groups that are none"
says "supd.conf:6: unknown section \[Managr\] \(did you mean \[Manager\]\?\)" "and unknown sections"
says "supd.conf:9: CatchUpSec= wants a time span" "and bad spans"
exits 1 "supd does not start by it" "$SUPD" $(supd_args) --config="$conf"
says 'nothing is started' "it says"
ok "and it made no directory" test ! -e "$dir/state"

exits 1 "a missing --config= file is an error" "$SUPD" --check --config="$dir/none.conf"
says 'none.conf: cannot be opened' "with its name"
exits 2 "an unknown option is wrong usage" "$SUPD" --unit-pth="$units"
exits 2 "so is an argument" "$SUPD" start
exits 2 "an unknown feature" "$SUPD" --experimental=scanners
exits 2 "an unknown log level" "$SUPD" --log-level=loud
exits 0 "--help" "$SUPD" --help
exits 0 "--version" "$SUPD" --version
says '^supd [0-9]' "names the version"

if [ "$(id -u)" = 0 ]; then
	config '[Manager]'
	chmod 666 "$conf"
	exits 1 "root trusts no supd.conf that others may write" "$SUPD" --check --config="$conf"
	says 'supd.conf: is writable by others' "it says"
	chmod 644 "$conf"
fi

# ---- what counts: drop-ins outweigh the file, the command line outweighs both ----

mkdir "$conf.d" "$dir/other"
service here.service 'ExecStart=/bin/true'
printf '[Service]\nExecStart=/bin/true\n' >"$dir/other/there.service"
config '[Manager]' "UnitPath=/nonexistent:$units" "StateDirectory=$dir/state" "RuntimeDirectory=$dir/run" 'LogLevel=error'
printf '[Manager]\nLogLevel=info\n' >"$conf.d/10-log.conf"
supd_args() {
	printf '%s\n' "--config=$conf"
}
supd_start
exits 0 "units come from UnitPath=" supctl start here
supd_stop
supd_start --unit-path="$dir/other"
exits 0 "--unit-path= replaces it" supctl start there
exits 4 "entirely" supctl start here
supd_stop
printf '[Manager]\nUnitPath=\nUnitPath=%s\n' "$dir/other" >"$conf.d/20-path.conf"
supd_start
exits 0 "an empty value resets the list" supctl start there
exits 4 "of all before it" supctl start here
supd_stop

: >"$log"
"$SUPD" --config="$conf" --log-format=json >>"$log" 2>&1 &
supd_pid=$!
ok "--log-format=json: lines of JSON" log_has '^\{"time":.*"message":"running"\}$'
supd_stop
done_testing
