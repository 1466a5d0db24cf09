#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supctl verify: what it says, how it ends, and that it runs nothing.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
SUPCTL=$TOP_BUILDDIR/supctl
dir=$(mktemp -d "${TMPDIR:-/tmp}/supd-test-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/units" "$dir/other"
cd "$dir" || exit 1

# verify STATUS NAME ARGUMENTS…
verify() {
	local wanted=$1 name=$2
	shift 2
	output=$("$SUPCTL" verify --system "$@" 2>&1)
	is "$name" "$?" "$wanted"
}

# says LINE NAME: is this a whole line of the output?
says() {
	if grep -qxF -- "$1" <<<"$output"; then
		pass "$2"
	else
		fail "$2" "no line: $1
$output"
	fi
}

cat >units/good.service <<END
[Service]
ExecStart=/bin/sh -c "touch $dir/ran"
END
mkdir units/default.target.wants
ln -s ../good.service units/default.target.wants/

verify 0 "good units" --unit-path=units
says "1 unit: 0 invalid, 0 warnings" "are counted"

cat >units/bad.service <<'END'
[Service]
ExecStart=/bin/true
ExecStrat=/bin/true
[Servce]
A=b
END
verify 4 "an invalid unit" --unit-path=units
says "$dir/units/bad.service:3: unknown key 'ExecStrat' in section [Service] (did you mean ExecStart=?)" \
	"its mistakes have file and line"
says "$dir/units/bad.service:4: unknown section [Servce] (did you mean [Service]?)" "all of them are told"
says "2 units: 1 invalid, 0 warnings" "and counted"
verify 0 "a good file among bad ones" units/good.service
says "1 unit: 0 invalid, 0 warnings" "only the file is reported"
verify 4 "the bad one" units/good.service units/bad.service

cat >units/far.service <<'END'
[Service]
PrivateTmp=yes
User=no-such-user-here
ExecStart=/nonexistent/program $A
ExecStartPre=-/nonexistent/other
ExecStop=no-such-program-here
END
verify 0 "warnings alone are no failure" units/far.service
says "$dir/units/far.service:2: warning: PrivateTmp= is not applied, ignored" "what is not applied is a warning"
says "$dir/units/far.service:3: warning: User=no-such-user-here is not known here" "a user who is unknown"
says "$dir/units/far.service:4: warning: ExecStart= cannot be executed here: '/nonexistent/program': No such file or directory" \
	"a program that is missing"
says "$dir/units/far.service:6: warning: ExecStop= cannot be executed here: 'no-such-program-here': No such file or directory" \
	"one that is nowhere in the path"
says "1 unit: 0 invalid, 4 warnings" "but for those that may fail"

verify 4 "with --strict, what is not applied is no success" --strict units/far.service
says "$dir/units/far.service:2: warning: PrivateTmp= is not applied, ignored (sandbox: supd has no sandbox; the service runs without this protection)" \
	"each says why, and what comes of it"
says "1 unit: 0 invalid, 4 warnings, 1 not applied" "and is counted"
verify 0 "other warnings are" --strict units/good.service
printf '[Service]\nSlice=a.slice\nExecStart=/bin/true\n' >other/slice.service
verify 4 "what needs systemd" --strict other/slice.service
grep -q '(needs-systemd: slices .*; set the limits in the service itself)$' <<<"$output"
is "says what to do" "$?" 0
verify 4 "in JSON" --strict --json other/slice.service
grep -q '"severity":"not-applied","reason":"needs-systemd","explanation":"slices.*"not_applied":1' <<<"$output"
is "reason and sentence are apart" "$?" 0
rm other/slice.service

verify 1 "a file that is missing" units/none.service
says "supctl: units/none.service: No such file or directory" "is an error"
verify 1 "a name that is none" /etc/passwd
verify 1 "a kind that is not run here" "$dir/x.socket"
cp units/good.service other/good.service
verify 1 "two files of one name" units/good.service other/good.service
verify 2 "wrong usage" --no-such-option
verify 0 "help" --help
says "supctl verify [FILE…]" "tells about itself"

ln -s loop.service units/loop.service
verify 4 "a link that leads to itself" --unit-path=units
grep -q "loop.service: .*link" <<<"$output"
is "is told" "$?" 0
rm units/loop.service

mkdir units/good.service.d
printf '[Service]\nNice=99\n' >units/good.service.d/nice.conf
verify 4 "a drop-in is judged with its unit" units/good.service
grep -q "$dir/units/good.service.d/nice.conf:2: Nice=" <<<"$output"
is "and named" "$?" 0
rm -r units/good.service.d

if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	printf '[Timer]\nOnCalendar=daily\n' >units/good.timer
	verify 0 "a timer with its service" units/good.timer
	says "1 unit: 0 invalid, 0 warnings" "the service is not reported"
	printf '[Timer]\nOnCalendar=daily\n' >units/lone.timer
	verify 4 "a timer without its service" units/lone.timer
	says "$dir/units/lone.timer: its target lone.service is missing (set Unit= or add the service)" "is told"
	printf '[Timer]\nUnit=good.service\nOnCalendar=25:00\nOnCalendarr=daily\n' >units/wrong.timer
	verify 4 "a timer with mistakes" units/wrong.timer
	grep -q "^$dir/units/wrong.timer:3: OnCalendar=" <<<"$output"
	is "has its lines" "$?" 0
	verify 4 "JSON" --json units/wrong.timer
	grep -q '^{"units":\[{"unit":"wrong.timer",.*"severity":"error".*"invalid":1,' <<<"$output"
	is "has the same in one document" "$?" 0
else
	printf '[Timer]\nOnCalendar=daily\n' >units/good.timer
	verify 1 "a supctl without timers judges none" units/good.timer
fi
verify 1 "a FILE that cannot be read among others" units/none.service units/good.service
says 'units/none.service: No such file or directory' "is told"
says '1 unit: 0 invalid, 0 warnings' "and the others are judged"
mkdir theirs
cp units/good.service theirs/
chmod 666 theirs/good.service
verify 0 "a FILE is judged for what it says" theirs/good.service
if [ "$(id -u)" = 0 ]; then
	verify 4 "as root, what others may write" --unit-path=theirs
	says "$dir/theirs/good.service: is writable by others (mode 0666); chmod go-w it" "is refused as supd refuses it"
fi
verify 1 "an error in JSON" --json units/none.service
says '{"error":true,"message":"units/none.service: No such file or directory","exitcode":1}' "is an object"

mkdir systemd
printf '[Service]\nType=simple\nExecStart=/bin/sleep 1000\n' >systemd/daemon.service
printf '[Service]\nType=forking\nExecStart=/bin/sleep 1000\n' >systemd/old.service
printf '[Service]\nType=oneshot\nExecStart=/bin/true\n' >systemd/job.service
verify 0 "services of systemd's that supd does not run" --unit-path=other --systemd-unit-path=systemd
says "4 units: 0 invalid, 0 warnings (2 of a type that supd does not run)" "are passed over quietly"

mkdir -p many/default.target.wants
printf '[Service]\nExecStart=/bin/true %%i\nPrivateTmp=yes\n' >many/all@.service
for i in a b c; do ln -s ../all@.service "many/default.target.wants/all@$i.service"; done
verify 0 "instances of a template" --unit-path=many
is "have its problems only once" "$(grep -c 'PrivateTmp= is not applied' <<<"$output")" 1
says "4 units: 0 invalid, 1 warning" "and are all counted"

printf '[Manager]\nUnitPath=%s\n' "$dir/other" >supd.conf
verify 0 "the unit path comes from supd.conf" --config=supd.conf
says "1 unit: 0 invalid, 0 warnings" "if nobody says otherwise"
printf '[Manager]\nUnitPat=%s\n' "$dir/other" >supd.conf
verify 1 "a mistake in supd.conf" --config=supd.conf
says "$dir/supd.conf:2: unknown key 'UnitPat' in section [Manager] (did you mean UnitPath=?)" "is told"

ok "nothing was run" test ! -e "$dir/ran"
done_testing
