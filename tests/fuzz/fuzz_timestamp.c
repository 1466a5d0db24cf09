/* SPDX-License-Identifier: MIT */

/* Any text as a timestamp: what is understood prints, and reads back as the same moment. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_error.h"
#include "timer/timestamp.h"
#include "timer/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

/* Printed times have years of four digits. */
#define PRINTABLE (UINT64_C(253402214400) * USEC_PER_SEC)

static struct zone *berlin, *kathmandu;

static const struct zone *find_zone(void *userdata, const char *name)
{
	(void) userdata;
	return name[0] == 'K' ? kathmandu : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *) data, size), buf[TIMESTAMP_MAX];
	struct parse_error error = { .column = 0 };
	usec_t when, again;

	CHECK(text);
	if (!berlin) {
		CHECK(zone_from_posix("CET-1CEST,M3.5.0,M10.5.0/3", &berlin, NULL) == 0);
		CHECK(zone_from_posix("<+0545>-5:45", &kathmandu, NULL) == 0);
	}
	const struct timestamp_context context = {
		.now = UINT64_C(1795253400123456), .local = berlin, .find_zone = find_zone };

	if (timestamp_parse(text, &context, &when, &error) == 0) {
		timestamp_print(buf, sizeof(buf), when, berlin, true);
		CHECK(strlen(buf) < sizeof(buf) - 1);
		if (when > 86400 * USEC_PER_SEC && when < PRINTABLE - USEC_PER_DAY) {
			CHECK(timestamp_parse(buf, &context, &again, NULL) == 0);
			CHECK(again == when);
		}
	} else {
		CHECK(error.column > 0 && error.column <= strlen(text) + 1 && error.sentence[0]);
	}
	free(text);
	return 0;
}
