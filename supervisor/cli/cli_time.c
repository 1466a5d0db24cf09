/* SPDX-License-Identifier: MIT */
#include "cli/cli_time.h"

#include <errno.h>

#include "base/parse_error.h"
#include "base/timespan.h"
#include "base/values.h"
#include "cli/cli.h"
#if ENABLE_TIMER
#include "timer/timestamp.h"
#include "timer/zone.h"
#include "timer/zone_load.h"
#endif

#if ENABLE_TIMER
static int parse_time(const char *text, usec_t now, usec_t *ret, struct parse_error *reterr)
{
	const struct zone_source source = zone_source_from_environment();
	struct timestamp_context context = { .now = now, .find_zone = zone_cache_find };
	struct zone_cache *zones;
	int r = zone_cache_new(&source, &zones);

	if (r < 0)
		return r;
	context.local = zone_cache_local(zones);
	context.userdata = zones;
	r = timestamp_parse(text, &context, ret, reterr);
	zone_cache_free(zones);
	return r;
}
#else
/* Without the calendar there are seconds since the epoch, and how long ago. */
static int parse_time(const char *text, usec_t now, usec_t *ret, struct parse_error *reterr)
{
	uint64_t seconds;
	usec_t ago;

	if (text[0] == '@' && value_unsigned(text + 1, UINT32_MAX, &seconds) == 0) {
		*ret = seconds * USEC_PER_SEC;
		return 0;
	}
	if (text[0] != '-' || timespan_parse(text + 1, &ago, reterr) < 0)
		return parse_error_at(
			reterr, 0, "this supctl, built without timers, knows @SECONDS and -SPAN");
	*ret = usec_sub(now, ago);
	return 0;
}
#endif

int cli_time(const struct cli *c, const char *option, const char *text, usec_t *ret)
{
	struct parse_error error = { .sentence = "out of memory" };

	if (!text || parse_time(text, c->now, ret, &error) >= 0)
		return CONTROL_OK;
	return cli_fail(c, CONTROL_USAGE, "--%s=%s is no time: %s", option, text, error.sentence);
}

int cli_time_argument(const struct cli *c, const char *text, usec_t *ret)
{
	struct parse_error error = { .sentence = "out of memory" };

	if (parse_time(text, c->now, ret, &error) >= 0)
		return CONTROL_OK;
	return cli_fail(c, CONTROL_USAGE, "'%s' is no time: %s", text, error.sentence);
}
