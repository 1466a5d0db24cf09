/* SPDX-License-Identifier: MIT */
#include "timer/memory.h"

#include "base/cleanup.h"

static const char *const miss_words[] = {
	[MISS_NONE] = "none",
	[MISS_OVERLAP] = "overlap",
	[MISS_DOWNTIME] = "downtime",
	[MISS_INTERRUPTED] = "interrupted",
	[MISS_LATE] = "late",
	[MISS_CLOCK_JUMP] = "clock-jump",
	[MISS_DISABLED] = "disabled",
	[MISS_MASKED] = "masked",
	[MISS_TARGET] = "target",
	[MISS_SHUTDOWN] = "shutdown",
	[MISS_RESOURCES] = "resources",
};
_Static_assert(ELEMENTS(miss_words) == MISS_REASON_COUNT, "a word for each reason");

const char *miss_reason_to_string(enum miss_reason r)
{
	return miss_words[r];
}

bool miss_reason_from_string(const char *s, enum miss_reason *ret)
{
	for (unsigned i = 0; i < MISS_REASON_COUNT; i++)
		if (str_equal(miss_words[i], s)) {
			*ret = (enum miss_reason) i;
			return true;
		}
	return false;
}
