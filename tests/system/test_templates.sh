#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One template, many instances, with the real daemon: backup@.service and backup@.timer, enabled as backup@home.timer; asked for,
# named by links, gone again; what is replaced in their files; and their drop-ins.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"

: "${units:?}" "${dir:?}"
unit backup@.service <<-EOF2
	[Unit]
	Description=Backup of %i
	[Service]
	Environment=WHAT=%I
	ExecStart=/bin/sh -c 'echo "%n|%p|%i|%f|\$WHAT|\$MORE" >>$dir/ran'
EOF2
unit backup@.timer <<-EOF2
	[Unit]
	Description=Timer of %i
	[Timer]
	OnCalendar=2199-01-01
	[Install]
	WantedBy=timers.target
	DefaultInstance=root
EOF2
unit plain.service <<-EOF2
	[Service]
	ExecStart=/bin/true
EOF2

instances() {
	supctl list --no-legend | awk '$1 ~ /@/ { print $1 }' | sort | tr '\n' ' '
}

supd_start --experimental=timers

is "nothing but templates: nothing is listed" "$(instances)" ""
exits 0 "list --all" supctl list --all
says '^backup@\.service' "lists the service's template"
says '^backup@\.timer' "and the timer's"
exits 4 "a template is not started" supctl start backup@.service
says 'start an instance of it: backup@NAME\.service' "and says how"
exits 4 "nor triggered" supctl trigger backup@.timer
exits 1 "nor enabled, as is told" supctl is-enabled backup@.timer
is "in systemd's word" "$output" disabled

# ---- a timer ----

exits 3 "an instance that nobody has enabled can be looked at" supctl status backup@home.timer
says 'disabled' "and says what it is"
exits 1 "it is" supctl is-enabled backup@home.timer
is "disabled" "$output" disabled
exits 4 "it cannot be triggered" supctl trigger backup@home.timer
says 'supctl enable backup@home\.timer' "yet"
exits 0 "its files are those of the template" supctl cat backup@home.timer
says "^# $units/backup@\.timer" "by their path"
exits 0 "it is enabled" supctl enable backup@home.timer
is "by a link" "$(readlink "$units/timers.target.wants/backup@home.timer")" "$units/backup@.timer"
exits 0 "and active at once" supctl is-active backup@home.timer
exits 0 "and enabled" supctl is-enabled backup@home.timer
is "with its service" "$(instances)" "backup@home.service backup@home.timer "
is "which has a name of its own" "$(field backup@home.service description)" "Backup of home"
is "as has the timer" "$(field backup@home.timer description)" "Timer of home"
exits 0 "why knows it" supctl why backup@home.timer
exits 0 "it is triggered" supctl trigger backup@home.timer
says '^backup@home\.service: success' "and runs its service"
is "with what the specifiers say" "$(cat "$dir/ran")" "backup@home.service|backup|home|/home|home|"
exits 0 "timers lists it" supctl timers
says 'backup@home\.timer +backup@home\.service' "with what it activates"
exits 0 "the template stands for its default instance" supctl enable backup@.timer
is "which is another timer" "$(instances)" "backup@home.service backup@home.timer backup@root.service backup@root.timer "
exits 0 "disabled" supctl disable backup@root.timer
is "it is gone, and its service with it" "$(instances)" "backup@home.service backup@home.timer "

# ---- asked for ----

: >"$dir/ran"
exits 0 "any instance can be started" supctl start 'backup@srv-www\x2ddata.service'
is "by an escaped name" "$(cat "$dir/ran")" 'backup@srv-www\x2ddata.service|backup|srv-www\x2ddata|/srv/www-data|srv/www-data|'
exits 3 "any can be looked at" supctl status backup@look.service
says 'Backup of look' "as it would be"
is "and leaves nothing" "$(instances)" 'backup@home.service backup@home.timer backup@srv-www\x2ddata.service '
exits 0 "a reload" supctl reload
is "forgets what is done" "$(instances)" "backup@home.service backup@home.timer "
exits 4 "no template, no instance" supctl start restore@x.service

# ---- files of their own, drop-ins, links ----

unit backup@own.service <<-EOF2
	[Service]
	ExecStart=/bin/sh -c 'echo own >>$dir/ran'
EOF2
unit backup@.service.d/10-more.conf <<<$'[Service]\nEnvironment=MORE=template'
unit backup@home.service.d/10-more.conf <<<$'[Service]\nEnvironment=MORE=instance'
unit backup-@.service.d/10-no.conf <<<$'[Service]\nEnvironment=MORE=no'
mkdir -p "$units/default.target.wants"
ln -s ../backup@.service "$units/default.target.wants/backup@linked.service"
ln -s backup@aliased.service "$units/usual.service"
exits 0 "drop-ins, a file and links come" supctl reload
is "they are instances" "$(instances)" \
	"backup@aliased.service backup@home.service backup@home.timer backup@linked.service backup@own.service "
: >"$dir/ran"
supctl start backup@own.service >/dev/null
supctl start backup@home.service >/dev/null
supctl start usual.service >/dev/null
is "a file of its own outweighs the template, its drop-in the template's" "$(cut -d'|' -f1,6 "$dir/ran" | tr '\n' ' ')" \
	"own backup@home.service|instance backup@aliased.service|template "
rm "$units/usual.service" "$units/default.target.wants/backup@linked.service"
exits 0 "links go" supctl reload
is "and instances with them" "$(instances)" "backup@home.service backup@home.timer backup@own.service "

# ---- mistakes ----

unit bad@.timer <<<$'[Timer]\nOnCalendar=%i\nUnit=plain.service'
exits 0 "a template is judged as some instance" supctl reload
exits 1 "an instance that makes no sense is not enabled" supctl enable bad@nonsense.timer
says 'OnCalendar= does not parse' "and says why"
is "it leaves no link" "$(ls "$units/timers.target.wants")" "backup@home.timer"
exits 0 "one that does is" supctl enable bad@daily.timer
is "with specifiers in all its keys" "$(field bad@daily.timer unit_file_state)" enabled
unit worse@.timer <<<$'[Timer]\nOnCalendar=daily\nUnit=%0.service'
exits 0 "a template with a specifier that is not known" supctl reload
exits 1 "is not enabled" supctl enable worse@x.timer
says 'asks for %0, which is not known here' "and says which"
exits 4 "verify judges templates, too" env -u SUPD_RUNTIME_DIR supctl verify "$units/worse@.timer"
says 'worse@\.timer:3: .*%0' "with the line"
exits 0 "also those of services" env -u SUPD_RUNTIME_DIR supctl verify "$units/backup@.service" "$units/backup@.timer"
rm "$units/worse@.timer"

rm "$units/backup@.service"
exits 4 "without its service a timer is invalid" supctl reload
says 'backup@home\.service is missing' "which is told"
supd_stop

# ---- start-up ----

unit backup@.service <<<$'[Service]\nExecStart=/bin/true'
unit many@.service <<<$'[Service]\nExecStart=/bin/echo this is %i'
rm -rf "$units/bad@.timer" "$units/timers.target.wants/bad@daily.timer" "$units/plain.service"
ln -s ../backup@.service "$units/default.target.wants/backup@boot.service"
supd_start --experimental=timers
ok "a linked instance starts with supd" log_has ' backup@boot\.service\[.*: success'
exits 0 "an enabled timer is active again" supctl is-active backup@home.timer
# More than a daemon once let anybody ask at a time.
exits 0 "hundreds of instances are started at once" supctl start many@{1..300}
is "each has its answer" "$(grep -cE '^many@[0-9]+\.service: success' <<<"$output")" 300
is "and its output is kept" "$(supctl logs many@300 | grep -c 'this is 300$')" 1
supd_stop
done_testing
