/* SPDX-License-Identifier: MIT */
#include "service/history_record.h"

#include <assert.h>

#include "base/cleanup.h"

static const char *const class_words[] = {
	[HISTORY_RUNNING] = "running",
	[HISTORY_SUCCESS] = "success",
	[HISTORY_FAILED] = "failed",
	[HISTORY_SKIPPED] = "skipped",
	[HISTORY_STOPPED] = "stopped",
	[HISTORY_INTERRUPTED] = "interrupted",
	[HISTORY_MISSED] = "missed",
	[HISTORY_GAP] = "gap",
};
static_assert(ELEMENTS(class_words) == HISTORY_CLASS_COUNT, "a word for each class");

const char *history_class_to_string(enum history_class c)
{
	return class_words[c];
}

bool history_class_from_string(const char *s, enum history_class *ret)
{
	for (size_t i = 0; i < ELEMENTS(class_words); i++)
		if (str_equal(class_words[i], s)) {
			*ret = (enum history_class) i;
			return true;
		}
	return false;
}

enum history_class history_class_of(enum run_result r)
{
	switch ((int) r) {
	case RUN_RESULT_NONE:
		return HISTORY_RUNNING;
	case RUN_RESULT_SUCCESS:
		return HISTORY_SUCCESS;
	case RUN_RESULT_SKIPPED:
		return HISTORY_SKIPPED;
	case RUN_RESULT_STOPPED:
		return HISTORY_STOPPED;
	default:
		return HISTORY_FAILED;
	}
}
