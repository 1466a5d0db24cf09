#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A day as it was and will be; moments that an admin drops.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh"

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"
export TZ=Europe/Berlin
service well.service 'ExecStart=/bin/true'
service badly.service 'ExecStart=/bin/false'
service often.service 'ExecStart=/bin/true'
service asked.service 'ExecStart=/bin/true'
printf '[Timer]\nOnCalendar=*-*-* 03:00\nOnCalendar=*-*-* 02:30\n' >"$units/well.timer"
printf '[Timer]\nOnActiveSec=0\nRetrySec=2h\n' >"$units/badly.timer"
printf '[Timer]\nOnCalendar=*:*:*\nUnit=missing-is-masked.service\n' >"$units/seconds.timer"
: >"$units/missing-is-masked.service"
printf '[Timer]\nOnActiveSec=1h\nOnUnitActiveSec=3h\n' >"$units/often.timer"

# moments JSON KEY…: a line each, the values parted by blanks.
moments() {
	python3 -c 'import json, sys
for m in json.loads(sys.argv[1])["moments"]:
	print(*(m.get(k) for k in sys.argv[2:]))' "$@"
}
plan() {
	supctl plan --json "$@"
}

supd_start --experimental=timers
log_has 'badly.timer.* retry 1'

# ---- what comes ----

# 2027-03-28 has no 02:30 in Berlin, 2027-10-31 has two.
day=$(plan --day=2027-03-28 well.timer)
is "a day on which the clock goes ahead" "$(moments "$day" state cause dst | xargs)" "to-come calendar gap"
is "has 23 hours" "$(python3 -c 'import json, sys
d = json.loads(sys.argv[1]); print((d["to"] - d["from"]) // 3600000000)' "$day")" 23
day=$(plan --day=2027-10-31 well.timer)
is "a day on which it goes back" "$(moments "$day" state dst | xargs)" "to-come fold to-come None"
key=$(moments "$day" key | head -n1)
output=$key
says '^well\.timer@[0-9]{16}$' "each moment has a key"
exits 0 "a table for people" supctl plan --day=2027-03-28 well.timer
says '^MOMENT +STATE +UNIT +ACTIVATES +CAUSE +NOTE *$' "with a header"
says '^Sun 2027-03-28 03:00:00 CEST +to-come +well.timer +well.service +calendar +moved: the local time does not' "and what the clock does"
exits 0 "a day with very many moments" supctl plan --day=tomorrow seconds.timer
says '^1000 moments listed' "is cut"
says '^seconds.timer: its moments from .* are left out' "and says so"
exits 2 "--day= with --from= is refused" supctl plan --day=today --from=now
exits 2 "a stretch that ends before it begins is refused" supctl plan --from=tomorrow --to=today
exits 4 "a timer that there is not" supctl plan no.timer

# ---- what was ----

supctl start asked.service >/dev/null 2>&1
around="--from=-1h --to=+4h"
# shellcheck disable=SC2086 # two options
is "what ran, without a timer" "$(moments "$(plan $around 'asked*')" state unit cause)" "done asked.service manual"
# shellcheck disable=SC2086
is "what failed, and its retry" "$(moments "$(plan $around 'badly*')" state cause activates | xargs)" \
	"failed active badly.service to-come retry badly.service"
# shellcheck disable=SC2086
is "an interval's known moment" "$(moments "$(plan $around often.timer)" state cause | xargs)" "to-come active note None"
# shellcheck disable=SC2086
exits 0 "and what comes after it" supctl plan $around often.timer
says '^often.timer: OnUnitActiveSec=3h counts from the end of often.service, which has not run yet' "is said"
# shellcheck disable=SC2086
is "a name finds the service's timer, too" "$(moments "$(plan $around badly.service)" unit | sort -u)" badly.timer

# ---- skipping ----

soon() { # as supctl timers has it
	supctl timers --json | python3 -c 'import json, sys
print([t["next"] for t in json.load(sys.stdin)["timers"] if t["unit"] == "well.timer"][0] // 1000000)'
}
first=$(soon)
exits 0 "the next moment is skipped" supctl skip well next
says '^well.timer: .* is skipped; next: ' "and told, with the one after it"
second=$(soon)
is "the next is another now" "$((second > first))" 1
exits 0 "a moment by its time" supctl skip well.timer "@$second"
exits 0 "once more" supctl skip well.timer "@$second"
says 'was skipped already' "is said to be so"
exits 1 "what is no moment is refused" supctl skip well.timer "@$((second + 1))"
says 'well.timer has no moment at .*; to come: ' "with those to come"
exits 1 "what is past is refused" supctl skip well.timer yesterday
says 'lies in the past' "and why"
exits 1 "what is too far" supctl skip well.timer "+2y"
says 'more than a year ahead' "and why"
exits 4 "a service is no timer" supctl skip well.service next
says 'well.service is no timer; well.timer activates it' "but there is one"
exits 2 "what is no time" supctl skip well.timer soon
exits 0 "why tells of them" supctl why well.timer
says '^skipped by an admin: .*, ' "both"
is "the plan shows them" "$(moments "$(plan "--from=@$((first - 1))" "--to=@$((second + 1))" well.timer)" state | xargs)" "skipped skipped"
exits 0 "is-healthy has nothing against it" supctl is-healthy well.timer

# Over a restart, and back.
supd_stop
supd_start --experimental=timers
is "a restart forgets none" "$(plan "--from=@$((first - 1))" "--to=@$((second + 1))" well.timer | grep -o '"skipped":true' | wc -l)" 2
exits 0 "one is taken back" supctl unskip well.timer "@$first"
says 'is not skipped any more; next: ' "and told"
is "and is the next again" "$(soon)" "$first"
exits 0 "one that is not skipped" supctl unskip well.timer "@$first"
says 'was not skipped' "is said to be so"
is "as JSON" "$(supctl skip --json well.timer next | python3 -c 'import json, sys
r = json.load(sys.stdin)[0]; print(r["unit"], r["changed"], r["moment"] // 1000000)')" "well.timer True $first"

# It comes, and is on record.
printf '[Timer]\nOnCalendar=*:*:0/2\nUnit=well.service\n' >"$units/quick.timer"
exits 0 "a quick timer" supctl reload
exits 0 "of which the next is skipped" supctl skip quick.timer next
if log_has 'quick.timer.* missed: skipped-by-admin'; then pass "it is missed when it comes"; else fail "it is missed when it comes" "$(cat "$log")"; fi

# ---- closed, and down ----

exits 0 "timers are turned off" supctl experimental disable timers --runtime
# shellcheck disable=SC2086
exits 0 "the plan is there" supctl plan $around
says 'failed +badly.timer +badly.service' "with what was"
says '^timers are disabled: ' "and why nothing comes"
exits 3 "nothing can be skipped" supctl skip well.timer next
supd_stop
# shellcheck disable=SC2086
exits 69 "without a daemon" supctl plan $around --state-dir="$dir/state"
says "failed +badly.timer" "the past is read from its file"
says "no supd|not run|is not there" "and there is nobody who knows what comes"
done_testing
