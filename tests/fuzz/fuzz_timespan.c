/* SPDX-License-Identifier: MIT */

/* Any text as a time span: what is understood prints, and reads back as the same. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_error.h"
#include "base/timespan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *) data, size), buf[TIMESPAN_MAX];
	struct parse_error error = { .column = 0 };
	usec_t span, again, accuracy = 1;
	uint64_t nsec;

	CHECK(text);
	if (timespan_parse(text, &span, &error) == 0) {
		/* finer than shown is cut, never added; of the longest spans the years alone are
		 * refused, as by systemd */
		for (; accuracy <= USEC_PER_YEAR; accuracy *= 10) {
			timespan_print(buf, sizeof(buf), span, accuracy);
			if (span != USEC_NEVER && span / USEC_PER_YEAR >= USEC_NEVER / USEC_PER_YEAR)
				break;
			CHECK(timespan_parse(buf, &again, NULL) == 0 && again <= span);
			CHECK(accuracy > 1 || again == span);
		}
		timespan_print_rough(buf, sizeof(buf), span);
		CHECK(strlen(buf) < sizeof(buf) - 1);
	} else {
		CHECK(error.column > 0 && error.column <= strlen(text) + 1 && error.sentence[0]);
	}
	(void) timespan_parse_nsec(text, &nsec, NULL);
	(void) timespan_parse_unit(text, USEC_PER_MINUTE, &span, NULL);
	free(text);
	return 0;
}
