#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supctl enable, disable, mask, unmask and is-enabled with the real daemon: which links they leave, that these count at once,
# and that they are systemd's.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

lib=${dir:?}/lib
runtime=$dir/run/supd/units
systemd=$dir/systemd
mkdir -p "$lib" "$systemd" "$dir/elsewhere"

# put PATH LINES…
put() {
	local path=$1
	shift
	mkdir -p "$(dirname "$path")"
	printf '%s\n' "$@" >"$path"
}

# state WORD STATUS UNIT: what is-enabled says of it.
state() {
	exits "$2" "is-enabled $3 ends with $2" supctl is-enabled "$3"
	is "$3 is $1" "$output" "$1"
}

link_of() {
	readlink "$units/$1" || echo none
}

put "$lib/plain.service" '[Service]' 'ExecStart=/bin/true'
put "$lib/more.service" '[Service]' 'ExecStart=/bin/true' '[Install]' WantedBy=multi-user.target WantedBy=other.target \
	RequiredBy=third.target Alias=less.service Also=also.service
put "$lib/also.service" '[Service]' 'ExecStart=/bin/true' '[Install]' WantedBy=other.target Also=more.service
put "$lib/only.service" '[Service]' 'ExecStart=/bin/true' '[Install]' Also=plain.service
put "$lib/lost.service" '[Service]' 'ExecStart=/bin/true' '[Install]' Also=nowhere.service
put "$lib/wrong.service" '[Service]' 'ExecStart=/bin/true' '[Install]' WantedBy=default.target Alias=wrong.timer
put "$lib/taken.service" '[Service]' 'ExecStart=/bin/true' '[Install]' Alias=here.service
put "$units/here.service" '[Service]' 'ExecStart=/bin/true'
put "$lib/long.service" '[Service]' "ExecStart=/bin/sh -c 'echo up; exec sleep 1000'"
put "$lib/now.service" '[Service]' RemainAfterExit=yes 'ExecStart=/bin/true'
put "$lib/worker@.service" '[Service]' "ExecStart=/bin/sh -c 'echo I am %i'" '[Install]' WantedBy=default.target \
	DefaultInstance=first Alias=main-worker.service
put "$lib/nameless@.service" '[Service]' 'ExecStart=/bin/true' '[Install]' WantedBy=default.target
put "$systemd/job.service" '[Service]' Type=oneshot 'ExecStart=/bin/true' '[Install]' WantedBy=multi-user.target
put "$systemd/static.service" '[Service]' Type=oneshot 'ExecStart=/bin/true'
put "$systemd/job.timer" '[Timer]' OnCalendar=2199-01-01 '[Install]' WantedBy=timers.target
put "$systemd/on.timer" '[Timer]' OnCalendar=2199-01-01 Unit=job.service '[Install]' WantedBy=timers.target
mkdir "$systemd/timers.target.wants"
ln -s ../on.timer "$systemd/timers.target.wants/on.timer"
put "$lib/tick@.timer" '[Timer]' OnCalendar=2199-01-01 Unit=plain.service
mkdir "$lib/timers.target.wants"
ln -s ../tick@.timer "$lib/timers.target.wants/tick@pkg.timer"
put "$lib/never.service" '[Service]' Enabled=no 'ExecStart=/bin/true'
put "$lib/plain.timer" '[Timer]' OnCalendar=2199-01-01
put "$dir/elsewhere/outside.service" '[Service]' 'ExecStart=/bin/true'
ln -s "$dir/elsewhere/outside.service" "$units/outside.service"
chmod -R go-w "$lib" "$systemd" "$units"

supd_args() {
	printf '%s\n' --unit-path="$units:$runtime:$lib" --systemd-unit-path="$systemd" --state-dir="$dir/state" \
		--runtime-dir="$dir/run" --log-format=text
}
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	supd_start --experimental=timers
else
	supd_start
fi

# ---- services ----

state disabled 1 plain.service
exits 0 "a service without [Install] is enabled" supctl enable plain
says '^plain\.service: enabled$' "and told"
is "by a link" "$(link_of default.target.wants/plain.service)" "$lib/plain.service"
state enabled 0 plain.service
exits 0 "once" supctl enable plain
says 'was enabled already' "the second time nothing is to be done"
exits 0 "and disabled" supctl disable plain
is "the link is gone" "$(link_of default.target.wants/plain.service)" none
state disabled 1 plain.service

exits 0 "a service with [Install] is enabled" supctl enable more
says '^more\.service: enabled$' "it"
says '^also\.service: enabled$' "and what Also= names"
is "multi-user.target is what starts with supd" "$(link_of default.target.wants/more.service)" "$lib/more.service"
is "other targets are linked as they are" "$(link_of other.target.wants/more.service)" "$lib/more.service"
is "and required where they say so" "$(link_of third.target.requires/more.service)" "$lib/more.service"
is "an alias is a link beside the unit" "$(link_of less.service)" "$lib/more.service"
is "Also= brings its own links" "$(link_of other.target.wants/also.service)" "$lib/also.service"
state alias 0 less.service
exits 0 "the alias is the unit" supctl start less.service
says '^more\.service: success' "by its own name"
exits 0 "disable by the alias" supctl disable less.service
is "takes all of it away" "$(find "$units" -type l ! -name outside.service)" ""
exits 4 "the alias is gone" supctl start less.service

state indirect 0 only.service
exits 4 "Also= with a name that is not there is refused" supctl enable lost
says 'Also= names nowhere.service' "by its name"
exits 4 "an alias of another kind is refused" supctl enable wrong
says 'Alias=wrong.timer is of another kind' "by its name"
is "before anything is written" "$(link_of default.target.wants/wrong.service)" none
exits 1 "an alias does not take the place of a file" supctl enable taken
says 'here.service is in the way' "which is named"
exits 4 "what is not there cannot be enabled" supctl enable nothing
exits 4 "nor what says no itself" supctl enable never
says 'never.service says Enabled=no' "as is told"
ln -s /gone/stale.service "$units/stale.link"
mkdir -p "$units/default.target.wants"
ln -s /gone/stale.service "$units/default.target.wants/stale.service"
exits 0 "links that are left of a unit are removed all the same" supctl disable stale
is "and are gone" "$(link_of default.target.wants/stale.service)" none
rm "$units/stale.link"

# ---- instances ----

exits 0 "a template is enabled as its default instance" supctl enable worker@.service
says '^worker@first\.service: enabled$' "by that name"
is "by a link to the template" "$(link_of default.target.wants/worker@first.service)" "$lib/worker@.service"
exits 3 "which makes it a unit" supctl status worker@first.service
state enabled 0 worker@first.service
exits 0 "its alias" supctl start main-worker.service
says '^worker@first\.service: success' "is the instance"
exits 0 "it is disabled" supctl disable worker@first
is "all links are gone" "$(link_of default.target.wants/worker@first.service) $(link_of main-worker.service)" "none none"
state disabled 1 worker@first.service
exits 4 "a template without DefaultInstance= is refused" supctl enable nameless@.service
says 'name an instance of it: nameless@NAME.service' "and says how"

# ---- now, runtime ----

exits 0 "enable --now starts it, too" supctl enable --now now
exits 0 "so it is active" supctl is-active now
exits 0 "disable --now stops it" supctl disable --now now
exits 3 "so it is not" supctl is-active now
exits 0 "enable --runtime" supctl enable --runtime plain
is "writes where the next boot finds nothing" "$(readlink "$runtime/default.target.wants/plain.service")" "$lib/plain.service"
is "and nowhere else" "$(link_of default.target.wants/plain.service)" none
state enabled-runtime 0 plain.service
exits 0 "disable --runtime" supctl disable --runtime plain
state disabled 1 plain.service

# ---- mask ----

exits 0 "a service is masked" supctl mask plain
is "by a link to /dev/null" "$(link_of plain.service)" /dev/null
state masked 1 plain.service
exits 4 "and not started" supctl start plain
says 'is masked' "for that reason"
exits 4 "nor enabled" supctl enable plain
says 'supctl unmask plain.service comes first' "which says how"
exits 0 "twice is once" supctl mask plain
says 'was masked already' "and is told"
exits 0 "it is unmasked" supctl unmask plain
exits 0 "and starts again" supctl start plain
exits 0 "unmask of what is not masked" supctl unmask plain
says 'was not masked' "is told"
exits 0 "mask --runtime" supctl mask --runtime plain
is "is a link of this boot" "$(readlink "$runtime/plain.service")" /dev/null
state masked-runtime 1 plain.service
exits 0 "unmask --runtime" supctl unmask --runtime plain
exits 1 "a file of that name is not replaced" supctl mask here
says 'here.service is there, and is not replaced' "and named"
exits 1 "nor outweighed from below" supctl mask --runtime here
says 'would outweigh it' "which is told"
exits 0 "what is not there can be masked" supctl mask nothing
says 'no such unit, masked all the same' "which is told"
exits 0 "and unmasked" supctl unmask nothing
supctl start --no-block long >/dev/null
log_has ' long\.service\[.*: up'
exits 0 "what runs is masked" supctl mask long
is "and goes on" "$(field long.service active_state)" activating
exits 0 "mask --now stops it" supctl mask --now long
exits 3 "at once" supctl is-active long.service

# ---- systemd's directories ----

state disabled 1 job.service
state static 0 static.service
exits 0 "a unit of systemd's is enabled" supctl enable job.service
is "in supd's own directory" "$(link_of default.target.wants/job.service)" "$systemd/job.service"
is "systemd's is left alone" "$(find "$systemd" -type l)" "$systemd/timers.target.wants/on.timer"
state enabled 0 job.service
exits 0 "and disabled there" supctl disable job.service
state disabled 1 job.service
state linked 1 outside.service

if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	state disabled 1 job.timer
	exits 0 "a timer of systemd's is enabled" supctl enable job.timer
	is "by a link" "$(link_of timers.target.wants/job.timer)" "$systemd/job.timer"
	state enabled 0 job.timer
	exits 0 "and counts at once" supctl is-active job.timer
	exits 0 "and disabled" supctl disable job.timer
	state disabled 1 job.timer
	state enabled 0 on.timer
	exits 0 "what a link of systemd's enables is disabled" supctl disable on.timer
	is "by a link that outweighs it" "$(link_of timers.target.wants/on.timer)" /dev/null
	state disabled 1 on.timer
	exits 0 "twice" supctl disable on.timer
	says 'was disabled already' "is once"
	exits 0 "and enabled again" supctl enable on.timer
	state enabled 0 on.timer
	state enabled 0 tick@pkg.timer
	exits 0 "an instance that a package enables is active" supctl is-active tick@pkg.timer
	exits 0 "it is disabled" supctl disable tick@pkg.timer
	state disabled 1 tick@pkg.timer
	exits 3 "and not active" supctl is-active tick@pkg.timer
	exits 0 "and enabled again" supctl enable tick@pkg.timer
	exits 0 "so it is" supctl is-active tick@pkg.timer
	state enabled 0 plain.timer
	exits 0 "a timer is masked" supctl mask plain.timer
	state masked 1 plain.timer
	exits 3 "and not active" supctl is-active plain.timer
	exits 0 "unmasked" supctl unmask plain.timer
	exits 0 "it is" supctl is-active plain.timer
fi

# ---- several at once ----

service several.service 'ExecStart=/bin/true'
exits 0 "a new unit" supctl reload
exits 4 "of several units one is unknown" supctl enable nosuch.service several.service
says 'several\.service: enabled' "the others are enabled"
exits 4 "in JSON" supctl disable --json several.service nosuch.service
is "an error stands in its place" "$(python3 -c 'import json,sys; print([(a["unit"], a.get("changed"), a.get("exitcode")) \
	for a in json.loads(sys.argv[1])])' "$output")" "[('several.service', True, None), ('nosuch.service', None, 4)]"
exits 4 "of one unit" supctl enable --json nosuch.service
says '^{"error":true,.*"exitcode":4}$' "the error stands alone"
exits 4 "a pattern" supctl enable several.service 'several*'
says "^supctl: 'several\*' is a pattern, and the name of a unit is wanted here" "is no name"
exits 1 "and nothing was done" supctl is-enabled several.service
rm -rf "$units/default.target.wants"
: >"$units/default.target.wants"
exits 1 "where nothing can be written" supctl enable several.service
says "^supctl: several\.service could not be enabled: $units cannot be changed: " "the directory is named"
rm "$units/default.target.wants"
supd_stop
done_testing
