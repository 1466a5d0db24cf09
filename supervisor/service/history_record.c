/* SPDX-License-Identifier: MIT */
#include "service/history_record.h"

#include <assert.h>

#include "base/cleanup.h"
#include "base/text.h"

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

bool history_classes_from_string(const char *words, unsigned *ret)
{
	enum history_class c;
	char word[32];

	*ret = 0;
	while (*words) {
		size_t n = strcspn(words, ",");

		if (n >= sizeof(word))
			return false;
		memcpy(word, words, n);
		word[n] = '\0';
		if (!history_class_from_string(word, &c))
			return false;
		*ret |= 1U << c;
		words += n + (words[n] == ',');
	}
	return true;
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

bool history_run_range(const char *digits, uint8_t first[RUN_ID_BYTES], uint8_t last[RUN_ID_BYTES])
{
	char low[2 * RUN_ID_BYTES + 1], high[2 * RUN_ID_BYTES + 1];
	size_t n = strlen(digits);

	if (n == 0 || n > 2 * RUN_ID_BYTES)
		return false;
	memset(low, '0', 2 * RUN_ID_BYTES);
	memset(high, 'f', 2 * RUN_ID_BYTES);
	memcpy(low, digits, n);
	memcpy(high, digits, n);
	low[2 * RUN_ID_BYTES] = high[2 * RUN_ID_BYTES] = '\0';
	return text_unhex16(low, first) && text_unhex16(high, last);
}
