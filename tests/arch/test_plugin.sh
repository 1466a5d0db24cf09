#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The plugin shows one symbol, and the daemon contains no timer code.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
NM=${NM:-nm}
cd "$TOP_BUILDDIR" || exit 1

# Names of global functions and data that an object or archive defines.
defines() {
	$NM --extern-only --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
}

if [ "${ENABLE_TIMER:-yes}" != yes ]; then
	ok "no plugin was built" test ! -e .libs/timer.so
	ok "no timer library was built" test ! -e libtimer.a
else
	# Compilers put their own marks into every shared object of an instrumented build.
	is "the plugin exports supd_plugin_1 and nothing else" \
		"$($NM -D --extern-only --defined-only .libs/timer.so |
			awk '{ print $NF }' | grep -vE '^(__(asan|odr_asan|gcov|llvm)|_init$|_fini$)')" \
		supd_plugin_1
	empty "the plugin starts no process, opens no socket, reads no clock and no environment" \
		"$($NM -D --undefined-only .libs/timer.so | awk '{ print $NF }' | sed 's/@.*//' |
			grep -xE '(v|_F)?fork|clone3?|exec.*|posix_spawnp?|system|popen|socket|connect|bind|kill|killpg|clock_gettime|time|gettimeofday|setenv|putenv|localtime(_r)?|mktime|tzset|rand|random|getrandom|sleep|usleep|nanosleep')"
	ok "supd is there" test -x supd
	empty "supd links no timer code" \
		"$(comm -12 <(defines libtimer.a | comm -23 - <(defines libbase.a)) \
			<($NM --defined-only supd | awk '{ print $NF }' | sort -u))"
fi
done_testing
