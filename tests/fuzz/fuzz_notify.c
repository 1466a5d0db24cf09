/* SPDX-License-Identifier: MIT */
/* Any bytes over $NOTIFY_SOCKET: what is taken is within its bounds, and can be kept. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "service/run_said.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *message = malloc(size + 1);
	struct notification said;
	struct run_said *kept = NULL;

	CHECK(message);
	if (size > 0)
		memcpy(message, data, size);
	notification_parse(message, size, &said);
	CHECK(said.n_metrics <= NOTIFY_METRICS_MAX);
	CHECK(!said.status || text_utf8_valid(said.status, strlen(said.status)) == strlen(said.status));
	for (size_t i = 0; i < said.n_metrics; i++) {
		CHECK(isfinite(said.metric[i].value));
		CHECK(strlen(said.metric[i].name) > 0 && strlen(said.metric[i].name) <= NOTIFY_METRIC_NAME_MAX);
	}
	CHECK(run_said_add(&kept, &said) == 0);
	CHECK((kept != NULL) == (said.status || said.n_metrics > 0));
	run_said_free(kept);
	free(message);
	return 0;
}
