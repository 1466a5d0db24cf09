/* SPDX-License-Identifier: MIT */
/* A tally as bytes: a version, then its members in their order. Numbers are LEB128, lists begin
 * with how many follow, buckets are told by their distance from the one before. */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "service/tally.h"

#define TALLY_VERSION 1
#define NAME_LENGTH_MAX 4096

/* ---- out ---- */

static void put(FILE *f, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		(void) putc_unlocked((int) (n & 0x7f) | 0x80, f);
	(void) putc_unlocked((int) n, f);
}

static void put_text(FILE *f, const char *s)
{
	size_t n = strlen(s);

	put(f, n);
	(void) fwrite(s, 1, n, f);
}

static void put_double(FILE *f, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < 64; i += 8)
		(void) putc_unlocked((int) (bits >> i & 0xff), f);
}

static void put_spans(FILE *f, const struct tally_spans *s)
{
	uint32_t before = 0;

	put(f, s->sum);
	put(f, s->most);
	put(f, s->histogram.n);
	for (size_t i = 0; i < s->histogram.n; i++) {
		put(f, s->histogram.bucket[i].index - before);
		put(f, s->histogram.bucket[i].times);
		before = s->histogram.bucket[i].index;
	}
}

static void put_tally(FILE *f, const struct tally *t)
{
	put(f, TALLY_VERSION);
	put(f, HISTORY_CLASS_COUNT);
	for (size_t i = 0; i < HISTORY_CLASS_COUNT; i++)
		put(f, t->by_class[i]);
	put(f, t->healed);
	put(f, t->first);
	put(f, t->last);
	put(f, t->last_success);
	put(f, t->cpu);
	put(f, t->peak_memory);
	put_spans(f, &t->duration);
	put_spans(f, &t->lateness);
	put(f, t->n_misses);
	for (size_t i = 0; i < t->n_misses; i++) {
		put_text(f, t->miss[i].reason);
		put(f, t->miss[i].count);
	}
	put(f, t->n_metrics);
	for (size_t i = 0; i < t->n_metrics; i++) {
		put_text(f, t->metric[i].name);
		put(f, t->metric[i].count);
		put_double(f, t->metric[i].sum);
		put_double(f, t->metric[i].most);
		put_double(f, t->metric[i].last);
	}
}

int tally_encode(const struct tally *t, void **ret, size_t *ret_n)
{
	char *bytes = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);
	bool failed;

	if (!f)
		return -ENOMEM;
	put_tally(f, t);
	failed = ferror(f) != 0;
	if (fclose(f) != 0 || failed) {
		free(bytes);
		return -ENOMEM;
	}
	*ret = bytes;
	*ret_n = n;
	return 0;
}

/* ---- in ---- */

struct input {
	const uint8_t *at, *end;
	int error; /* the first */
};

static void refuse(struct input *in, int error)
{
	if (in->error == 0)
		in->error = error;
	in->at = in->end;
}

static uint64_t take(struct input *in)
{
	uint64_t n = 0;

	/* As most of them are. */
	if (in->at < in->end && *in->at < 0x80)
		return *in->at++;
	for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
		uint64_t bits = *in->at & 0x7f;

		if (shift == 63 && bits > 1)
			break;
		n |= bits << shift;
		if (!(*in->at++ & 0x80))
			return n;
	}
	refuse(in, -EBADMSG);
	return 0;
}

/* How many follow, each of a byte at least. */
static size_t take_count(struct input *in)
{
	uint64_t n = take(in);

	if (n > (uint64_t) (in->end - in->at)) {
		refuse(in, -EBADMSG);
		return 0;
	}
	return (size_t) n;
}

static char *take_text(struct input *in)
{
	size_t n = take_count(in);
	char *s;

	if (in->error < 0 || n > NAME_LENGTH_MAX || memchr(in->at, '\0', n)) {
		refuse(in, -EBADMSG);
		return NULL;
	}
	s = strndup((const char *) in->at, n);
	if (!s)
		refuse(in, -ENOMEM);
	in->at += n;
	return s;
}

static double take_double(struct input *in)
{
	uint64_t bits = 0;
	double value;

	if (in->end - in->at < 8) {
		refuse(in, -EBADMSG);
		return 0;
	}
	for (unsigned i = 0; i < 64; i += 8)
		bits |= (uint64_t) *in->at++ << i;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void take_spans(struct input *in, struct tally_spans *s)
{
	uint64_t index = 0;
	size_t n;

	s->sum = usec_add(s->sum, take(in));
	s->most = usec_max(s->most, take(in));
	n = take_count(in);
	for (size_t i = 0; i < n && in->error == 0; i++) {
		uint64_t step = take(in), times = take(in);

		if (step > HISTOGRAM_INDEX_MAX - index)
			refuse(in, -EBADMSG);
		else if (histogram_add_index(&s->histogram, (uint32_t) (index += step), times) < 0)
			refuse(in, -ENOMEM);
	}
}

static void take_misses(struct input *in, struct tally *t)
{
	size_t n = take_count(in);

	for (size_t i = 0; i < n && in->error == 0; i++) {
		_cleanup_free_ char *reason = take_text(in);
		uint64_t count = take(in);

		if (in->error == 0 && tally_add_miss(t, reason, count) < 0)
			refuse(in, -ENOMEM);
	}
}

static void take_metrics(struct input *in, struct tally *t, bool is_newer)
{
	size_t n = take_count(in);

	for (size_t i = 0; i < n && in->error == 0; i++) {
		_cleanup_free_ char *name = take_text(in);
		struct tally_metric m = { .name = name };

		m.count = take(in);
		m.sum = take_double(in);
		m.most = take_double(in);
		m.last = take_double(in);
		if (in->error == 0 && tally_add_metric(t, &m, is_newer) < 0)
			refuse(in, -ENOMEM);
	}
}

static void take_classes(struct input *in, struct tally *t)
{
	size_t n = take_count(in);

	/* Classes are only ever appended. */
	if (n > HISTORY_CLASS_COUNT)
		refuse(in, -EBADMSG);
	for (size_t i = 0; i < n && in->error == 0; i++)
		t->by_class[i] += take(in);
}

static void take_tally(struct input *in, struct tally *t)
{
	usec_t first, last;
	bool is_newer;

	if (take(in) != TALLY_VERSION)
		refuse(in, -EBADMSG);
	take_classes(in, t);
	t->healed += take(in);
	first = take(in);
	last = take(in);
	is_newer = last >= t->last;
	tally_seen(t, first, last);
	t->last_success = usec_max(t->last_success, take(in));
	t->cpu = usec_add(t->cpu, take(in));
	t->peak_memory = usec_max(t->peak_memory, take(in));
	take_spans(in, &t->duration);
	take_spans(in, &t->lateness);
	take_misses(in, t);
	take_metrics(in, t, is_newer);
}

int tally_merge_bytes(struct tally *t, const void *bytes, size_t n)
{
	struct input in = { .at = bytes, .end = (const uint8_t *) bytes + n };

	take_tally(&in, t);
	return in.error == 0 && in.at != in.end ? -EBADMSG : in.error;
}

int tally_decode(const void *bytes, size_t n, struct tally *ret)
{
	struct tally t = { 0 };
	int r = tally_merge_bytes(&t, bytes, n);

	if (r < 0)
		tally_done(&t);
	else
		*ret = t;
	return r;
}
