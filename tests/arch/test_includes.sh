#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The include table of ARCHITECTURE.md, by grep.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
cd "$TOP_SRCDIR" || exit 1

# FOLDER | own headers it may include | libraries it may use
table='
supervisor/base    | base/                                                          |
supervisor/unit    | unit/ base/                                                    | ini.h@reader.c
supervisor/service | service/ unit/ base/                                           |
supervisor/core    | core/ service/ unit/ base/ world.h supd-plugin.h               |
supervisor/run     | run/ store/ service/ base/ world.h supd-plugin.h               | systemd/ jansson.h@log_format.c
supervisor/store   | store/ unit/ base/ service/run_record.h service/history_record.h service/tally.h | sqlite3.h@history_private.h jansson.h
supervisor/control | control/ base/ supd-plugin.h                                   | systemd/ jansson.h
supervisor/cli     | cli/ control/ store/ core/ service/ unit/ base/ timer/ world.h supd-plugin.h daemon/settings.h daemon/surroundings.h | systemd/ jansson.h
timer              | timer/ base/ supd-plugin.h                                     | jansson.h@state_file.c
'

# Each #include as "file:line:header"; OPENING is the quote or the angle.
includes_of() { # FILES… OPENING
	grep -Hn "^[[:space:]]*#[[:space:]]*include[[:space:]]*${*: -1}" "${@:1:$#-1}" |
		sed -E 's/#[[:space:]]*include[[:space:]]*["<]([^">]*)[">].*/\1/; s/:[[:space:]]+/:/'
}

includes() { # FOLDER OPENING
	find "$1" -maxdepth 1 -name '*.[ch]' -print0 | while read -r -d '' file; do
		includes_of "$file" "$2"
	done
}

# Prints what is included but not on the list. A list item is a folder ("unit/"), a header, or a
# header for one file alone ("ini.h@reader.c").
strangers() { # LIST
	while IFS=: read -r file line header; do
		for item in $1; do
			case $item in
			*@*)	[ "$header@${file##*/}" = "$item" ] && continue 2 ;;
			*/)	case $header in "$item"*) continue 2 ;; esac ;;
			*)	[ "$header" = "$item" ] && continue 2 ;;
			esac
		done
		echo "$file:$line: includes $header"
	done
}

uthash='uthash.h@hash.h utlist.h'
while IFS='|' read -r folder own libraries; do
	folder=${folder// /}
	[ -n "$folder" ] || continue
	empty "$folder includes only headers the table allows" \
		"$(includes "$folder" '"' | strangers "$own")"
	empty "$folder uses only libraries the table allows" \
		"$(includes "$folder" '<' |
			grep -E ':(systemd/.*|ini\.h|jansson\.h|sqlite3\.h|check\.h|libudev\.h|ut[a-z]*\.h)$' |
			grep -v ':utime\.h$' | strangers "$uthash $libraries")"
done <<<"$table"

# daemon/ is supd's composition root: it may include anything.
empty "every folder stands in the table" \
	"$(find supervisor/*/ timer -maxdepth 0 -type d | sed 's|/$||' | while read -r folder; do
		[ "$folder" = supervisor/daemon ] || grep -q "^$folder " <<<"$table" || echo "$folder"
	done)"

# The border's types are shared; its calls belong to the outer half of the plugin.
rules='timer/(calendar|civil|fsm|memory|queue|schedule|spec|state_file|timestamp|zone)[a-z_]*\.[ch]:'
empty "the timer's rules do not call the host" \
	"$(grep -nE 'supd_host|supd_instance|"timer/instance\.h"' timer/*.[ch] | grep -E "^$rules")"
empty "world.h speaks of units, services and plugins only" \
	"$(includes_of supervisor/world.h '"' | strangers 'base/ unit/ service/ supd-plugin.h')"
empty "nobody includes config.h" \
	"$(grep -rn '#include ["<]config\.h' --include='*.[ch]' supervisor timer tests)"
done_testing
