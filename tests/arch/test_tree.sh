#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is in the tree is built, tested, licensed and finished.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
cd "$TOP_SRCDIR" || exit 1

# The make fragments with %D% written out.
fragments=$(find supervisor timer units man contrib tests -name local.mk | while read -r mk; do
	sed "s|%D%|$(dirname "$mk")|g; s|%reldir%|$(dirname "$mk")|g" "$mk"
done)

unlisted() { # FILES ON STDIN: those no fragment names
	while read -r file; do
		name=${file%.*}
		grep -qE "(^|[[:space:]=])$name(\.[a-z]+)?([[:space:]\\]|\$)" <<<"$fragments" || echo "$file"
	done
}

empty "every source file stands in a local.mk" \
	"$(find supervisor timer tests -name '*.[ch]' | grep -v '^tests/fuzz/' | sort | unlisted)"
empty "every test script stands in a local.mk" \
	"$(find tests -name 'test_*.sh' | sort | unlisted)"
empty "every test program stands in TESTS" \
	"$(find tests -name 'test_*.c' -not -path 'tests/lib/*' | sort | while read -r file; do
		awk -v program="${file%.c}" '
			/\\$/ { sub(/\\$/, " "); line = line $0; next }
			{ line = line $0
			  if (line ~ /^TESTS[ \t]*\+=/ && index(line " ", program " ")) found = 1
			  line = "" }
			END { exit !found }' <<<"$fragments" || echo "$file"
	done)"
empty "every source file carries its licence" \
	"$(find supervisor timer tests \( -name '*.[ch]' -o -name '*.sh' -o -name local.mk \) -print0 |
		xargs -0 grep -L 'SPDX-License-Identifier: MIT')"
# A tab goes on to the next multiple of eight, and of a character in UTF-8 the first byte counts. What a
# string says does not count: whole it can be searched for.
empty "no line of the sources is longer than 100 columns" \
	"$(find supervisor timer -name '*.[ch]' -print0 | LC_ALL=C xargs -0 awk '{
		line = $0
		gsub(/[\200-\277]/, "", line)
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		n = split(line, part, "\t")
		width = 0
		for (i = 1; i < n; i++)
			width += length(part[i]) + 8 - (width + length(part[i])) % 8
		width += length(part[n])
		if (width > 100)
			print FILENAME ":" FNR ": " width " columns"
	}')"
empty "nothing is marked as unfinished" \
	"$(grep -rnIE '\b(TO''DO|FIX''ME)\b' supervisor timer tests man units contrib configure.ac Makefile.am)"
done_testing
