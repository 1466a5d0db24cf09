#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Man pages are well-formed, and every key, option and verb stands in its page.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
cd "$TOP_SRCDIR" || exit 1

plain() { # PAGES…: their text, without font escapes and with hyphens as typed
	(cd man && sed -e 's/ Ns = Ns /=/g; s/Fl -/--/g; s/\\-/-/g; s/\\f[A-Z]//g; s/\\f(..//g; s/\\&//g' "$@")
}

# Rows { "Section", "Key", KEY_… of the key tables, as "Section Key KIND". Read after the
# preprocessor, so that a table may build its rows by macros.
keys() { # FILES…
	for file; do
		${TEST_CC:-cc} -std=gnu11 -D_GNU_SOURCE -I"$TOP_BUILDDIR" -I. -Isupervisor \
			-include "$TOP_BUILDDIR/config.h" -E -P "$file"
	done | tr '\n' ' ' |
		grep -oE '\{[[:space:]]*"[A-Za-z]+",[[:space:]]*"[A-Za-z-]+",[[:space:]]*KEY_[A-Z_]+' |
		sed -E 's/[{",]//g; s/^[[:space:]]+//; s/[[:space:]]+/ /g' | sort -u
}

# Keys that supd applies but none of the pages names as "Key=".
unnamed_keys() { # PAGES…, keys ON STDIN
	local text section key kind
	text=$(plain "$@")
	while read -r section key kind; do
		[ "$kind" = KEY_KNOWN ] || continue
		grep -qE "(^|[^A-Za-z])$key=" <<<"$text" || echo "man/$*: no $key= of [$section]"
	done
}

if command -v mandoc >/dev/null; then
	for page in man/*.[1-8]; do
		ok "$page passes mandoc -Tlint" mandoc -Tlint -W warning "$page"
	done
else
	skip "man pages pass mandoc -Tlint" "mandoc is not installed"
fi

# PAGE[,PAGE…] FILES
pages='supd.service.5,supd.exec.5 supervisor/service/*.c
supd.conf.5 supervisor/core/config.c'
[ "${ENABLE_TIMER:-yes}" != yes ] || pages="$pages
supd.timer.5 timer/*.c"
while read -r page files; do
	# shellcheck disable=SC2086 # a pattern
	rows=$(keys $files)
	ok "the key tables of man/$page were found" test -n "$rows"
	# shellcheck disable=SC2086 # several pages
	empty "every key that supd applies stands in man/$page" "$(unnamed_keys ${page//,/ } <<<"$rows")"
done <<<"$pages"

# listed TITLE SECTION: the keys of the list under that heading, one a line.
listed() {
	awk -v title=".Sh $1" -v section="[$2]" '
		/^\.Sh/ { here = $0 == title; list = 0 }
		here && /^\[/ { list = $0 == section; next }
		list && /^\.(Pp|Sh)/ { list = 0 }
		list && !/^\./ { print }
	' man/supd.service.5 | tr -d ' .=' | tr ',' '\n' | sed '/^$/d' | sort
}
rows=$(keys supervisor/service/spec_keys.c)
while read -r kind title; do
	for section in Unit Service; do
		is "man/supd.service.5 lists what it says under $title, [$section]" "$(listed "$title" "$section")" \
			"$(awk -v s="$section" -v k="$kind" '$1 == s && $3 == k { print $2 }' <<<"$rows" | sort -u)"
	done
done <<END
KEY_HARMLESS KEYS WITHOUT EFFECT
KEY_NOT_APPLIED KEYS THAT ARE NOT APPLIED
END

# Types of events, and fields: rows { "name", LOG_… and { "name", SUPD_….
events=$(grep -oE '\{ "[a-z_-]+", (LOG|SUPD)_' supervisor/core/events.c | sed -E 's/\{ "//; s/",.*//' | sort -u)
ok "the table of events was found" test -n "$events"
empty "each type of event and each field stands in man/supd-events.7" \
	"$(for name in $events; do grep -qE -- "^\.It Cm $name( |\$)" man/supd-events.7 || echo "no $name"; done)"

for program in supd.8 supctl.1; do
	[ -x "$TOP_BUILDDIR/${program%.*}" ] || continue
	text=$(plain "$program")
	empty "every option that ${program%.*} --help names stands in man/$program" \
		"$("$TOP_BUILDDIR/${program%.*}" --help 2>&1 | grep -oE -- '--[a-z][a-z-]+' | sort -u |
			while read -r option; do
				grep -qF -- "$option" <<<"$text" || echo "man/$program: no $option"
			done)"
done
verbs=$("$TOP_BUILDDIR/supctl" --help 2>&1 | sed -nE 's/^  ([a-z][a-z-]+)( .*)?$/\1/p' | sort -u)
ok "supctl --help lists verbs" test -n "$verbs"
text=$(plain supctl.1)
empty "every verb stands in man/supctl.1" \
	"$(for verb in $verbs; do grep -qw -- "$verb" <<<"$text" || echo "man/supctl.1: no $verb"; done)"
done_testing
