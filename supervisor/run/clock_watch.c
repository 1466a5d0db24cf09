/* SPDX-License-Identifier: MIT */
#include "run/clock_watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/usec.h"

struct clock_watch {
	sd_event_source *source;
	int fd;
	int64_t offset; /* real − boot */
	clock_watch_fn *fn;
	void *userdata;
};

static int64_t clock_usec(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t) ts.tv_sec * (int64_t) USEC_PER_SEC +
	       (int64_t) ts.tv_nsec / (int64_t) NSEC_PER_USEC;
}

static int64_t offset_now(void)
{
	return clock_usec(CLOCK_REALTIME) - clock_usec(CLOCK_BOOTTIME);
}

/* So far away that it never elapses. */
static int arm(struct clock_watch *w)
{
	struct itimerspec its = { .it_value.tv_sec = sizeof(time_t) > 4
							     ? (time_t) (INT64_C(1) << 40)
							     : INT32_MAX };

	if (timerfd_settime(w->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &its, NULL) < 0 &&
	    errno != ECANCELED)
		return -errno;
	return 0;
}

static void tell(struct clock_watch *w)
{
	uint64_t ticks;
	int64_t offset, delta;
	int r;

	if (read(w->fd, &ticks, sizeof(ticks)) < 0 && errno != ECANCELED)
		return;
	r = arm(w);
	if (r < 0)
		log_warning(r, "changes of the clock are no longer seen");
	offset = offset_now();
	delta = offset - w->offset;
	w->offset = offset;
	w->fn(w->userdata, delta);
}

static int on_cancelled(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void) source;
	(void) fd;
	(void) revents;
	tell(userdata);
	return 0;
}

void clock_watch_check(struct clock_watch *w, int timeout)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	if (poll(&p, 1, timeout) > 0)
		tell(w);
}

int clock_watch_new(sd_event *event, int64_t priority, clock_watch_fn *fn, void *userdata,
		    struct clock_watch **ret)
{
	struct clock_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->fn = fn;
	w->userdata = userdata;
	w->offset = offset_now();
	w->fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r = w->fd < 0 ? -errno : arm(w);
	if (r >= 0)
		r = sd_event_add_io(event, &w->source, w->fd, EPOLLIN, on_cancelled, w);
	if (r >= 0)
		r = sd_event_source_set_priority(w->source, priority);
	if (r < 0) {
		clock_watch_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

struct clock_watch *clock_watch_free(struct clock_watch *w)
{
	if (!w)
		return NULL;
	sd_event_source_disable_unref(w->source);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
	return NULL;
}
