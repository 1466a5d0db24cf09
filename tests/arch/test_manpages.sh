#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Man pages are well-formed, and every key, option and verb stands in its page.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
cd "$TOP_SRCDIR" || exit 1

plain() { # PAGE: its text, without font escapes and with hyphens as typed
	sed -e 's/\\-/-/g; s/\\f[A-Z]//g; s/\\f(..//g; s/\\&//g' "man/$1"
}

# Rows { "Section", "Key", KEY_… of the key tables, as "Section Key". A row may break its line.
keys() { # FILES…
	cat "$@" /dev/null 2>/dev/null | tr '\n' ' ' |
		grep -oE '\{[[:space:]]*"[A-Za-z]+",[[:space:]]*"[A-Za-z]+",[[:space:]]*KEY_[A-Z_]+' |
		sed -E 's/[{",]//g; s/^[[:space:]]+//; s/[[:space:]]+/ /g' | sort -u
}

# Keys of SECTION and KIND that the page does not name as "Key=".
unnamed_keys() { # PAGE SECTION KINDS FILES…
	local page=$1 section=$2 kinds=$3 text
	shift 3
	text=$(plain "$page")
	keys "$@" | while read -r s key kind; do
		[[ $s = "$section" && $kind =~ ^($kinds)$ ]] || continue
		grep -qE "(^|[^A-Za-z])$key=" <<<"$text" || echo "man/$page: no $key="
	done
}

if command -v mandoc >/dev/null; then
	for page in man/*.[1-8]; do
		ok "$page passes mandoc -Tlint" mandoc -Tlint -W warning "$page"
	done
else
	skip "man pages pass mandoc -Tlint" "mandoc is not installed"
fi

services=$(echo supervisor/service/*.c)
all=$(echo supervisor/*.c supervisor/*/*.c timer/*.c)
for check in 'supd.service.5 Service' 'supd.service.5 Unit' 'supd.timer.5 Timer' \
	'supd.conf.5 Supd' 'supd.conf.5 Experimental'; do
	set -- $check
	empty "every [$2] key that supd applies stands in man/$1" \
		"$(unnamed_keys "$1" "$2" KEY_KNOWN $all)"
done
ok "the key tables were found" test -n "$(keys $services)"

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
