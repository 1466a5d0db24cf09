/* SPDX-License-Identifier: MIT */
#include "run/admission.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/cleanup.h"

/* Nobody tells when another program gives something back. */
#define AGAIN_FIRST (20 * USEC_PER_MSEC)
#define AGAIN_MAX (500 * USEC_PER_MSEC)

struct admission {
	sd_event *event;
	admission_fn *fn;
	void *userdata;
	/* those that go first, and the rest; each by ticket */
	struct admission_wait *first, *others;
	uint64_t last_ticket;
	sd_event_source *look, *again;
	usec_t pause; /* until the next attempt; grows */
};

static struct admission_wait **line_of(struct admission *a, const struct admission_wait *w)
{
	return w->goes_first ? &a->first : &a->others;
}

void admission_leave(struct admission *a, struct admission_wait *w)
{
	if (w->is_waiting)
		DL_DELETE(*line_of(a, w), w);
	w->is_waiting = false;
}

static void try_again_later(struct admission *a)
{
	int is_set = 0;

	/* Of several that were put back together, one is enough. */
	if (sd_event_source_get_enabled(a->again, &is_set) > 0 && is_set != SD_EVENT_OFF)
		return;
	(void) sd_event_source_set_time_relative(a->again, a->pause);
	(void) sd_event_source_set_enabled(a->again, SD_EVENT_ONESHOT);
	a->pause = usec_min(a->pause * 2, AGAIN_MAX);
}

static int by_ticket(const struct admission_wait *a, const struct admission_wait *b)
{
	return (a->ticket > b->ticket) - (a->ticket < b->ticket);
}

static void take_place(struct admission *a, struct admission_wait *w)
{
	struct admission_wait **line = line_of(a, w);

	DL_INSERT_INORDER(*line, w, by_ticket);
	w->is_waiting = true;
}

static usec_t now_boot(const struct admission *a)
{
	uint64_t now = 0;

	(void) sd_event_now(a->event, CLOCK_BOOTTIME, &now);
	return now;
}

usec_t admission_waited(const struct admission *a, const struct admission_wait *w)
{
	return w->since == 0 ? 0 : usec_sub(now_boot(a), w->since);
}

static enum admission_verdict ask(struct admission *a, struct admission_wait *w)
{
	enum admission_verdict verdict;

	if (w->since == 0)
		w->since = now_boot(a);
	admission_leave(a, w);
	verdict = a->fn(a->userdata, w);
	if (verdict != ADMISSION_DONE)
		take_place(a, w);
	return verdict;
}

/* Nobody overtakes: if the foremost may not begin, the others wait with it. */
static void look(struct admission *a)
{
	enum admission_verdict verdict = ADMISSION_DONE;

	while (verdict == ADMISSION_DONE && !admission_is_empty(a))
		verdict = ask(a, a->first ? a->first : a->others);
	if (verdict == ADMISSION_LACK)
		try_again_later(a);
}

static int on_look(sd_event_source *source, void *userdata)
{
	(void) source;
	look(userdata);
	return 0;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void) source;
	(void) usec;
	look(userdata);
	return 0;
}

void admission_look(struct admission *a)
{
	if (admission_is_empty(a))
		return;
	a->pause = AGAIN_FIRST;
	(void) sd_event_source_set_enabled(a->look, SD_EVENT_ONESHOT);
}

void admission_join(struct admission *a, struct admission_wait *w, bool goes_first)
{
	bool was_empty = admission_is_empty(a);

	admission_leave(a, w);
	w->goes_first = goes_first;
	w->since = 0;
	w->ticket = ++a->last_ticket;
	DL_APPEND(*line_of(a, w), w);
	w->is_waiting = true;
	if (was_empty || goes_first)
		admission_look(a);
}

void admission_put_back(struct admission *a, struct admission_wait *w)
{
	take_place(a, w);
	try_again_later(a);
}

void admission_hurry(struct admission *a, struct admission_wait *w)
{
	admission_leave(a, w);
	w->goes_first = true;
	w->ticket = 0;
	take_place(a, w);
	admission_look(a);
}

bool admission_is_empty(const struct admission *a)
{
	return !a->first && !a->others;
}

int admission_new(sd_event *event, int64_t priority, admission_fn *fn, void *userdata,
		  struct admission **ret)
{
	struct admission *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	*a = (struct admission){
		.event = event, .fn = fn, .userdata = userdata, .pause = AGAIN_FIRST
	};
	r = sd_event_add_defer(event, &a->look, on_look, a);
	if (r >= 0)
		r = sd_event_source_set_priority(a->look, priority);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->look, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(event, &a->again, CLOCK_BOOTTIME, 0, USEC_PER_MSEC, on_again,
				      a);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->again, SD_EVENT_OFF);
	if (r < 0) {
		admission_free(a);
		return r;
	}
	*ret = a;
	return 0;
}

struct admission *admission_free(struct admission *a)
{
	if (!a)
		return NULL;
	sd_event_source_disable_unref(a->look);
	sd_event_source_disable_unref(a->again);
	free(a);
	return NULL;
}
