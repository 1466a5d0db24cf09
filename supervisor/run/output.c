/* SPDX-License-Identifier: MIT */
#include "run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/usec.h"
#include "run/keeper.h"
#include "service/exec_streams.h"

struct stream {
	struct output *output;
	enum run_log_stream which;
	bool forwards; /* lines go to the log, too */
	int fd; /* -1: has ended */
	sd_event_source *source;
	char *line; /* OUTPUT_LINE_MAX + 1 bytes; made with the first byte */
	size_t n;
};

struct output {
	struct outputs *all;
	char *unit;
	uint8_t run_id[16];
	struct keeper_run *kept; /* or NULL */
	char *identifier;     /* or NULL */
	int facility;
	int level, level_max; /* of lines that name none; above which they are dropped */
	bool has_prefix;      /* "<3>" means something */
	/* of lines to the log: rate_burst in rate_interval, then no more until that is over */
	usec_t rate_interval, rate_since;
	unsigned rate_burst, n_passed;
	uint64_t n_withheld;
	struct stream stream[2];
	uint64_t token;
	bool is_finished; /* nobody's but ours */
	sd_event_source *grace;
	struct output *prev, *next;
};

/* That there is something to read is told once, not in every turn of a loop that has more important
 * things to do first: so who leaves something in a pipe asks to be told again. */
#define EVENTS ((uint32_t) EPOLLIN | (uint32_t) EPOLLET)

struct outputs {
	sd_event *event;
	int64_t priority;
	uint64_t grace;
	bool forwards;
	usec_t now; /* real, of the last read */
	struct output *list, *lingering; /* the latter: finished, but held by others */
	char buf[OUTPUT_TURN_MAX];
};

/* ---- lines ---- */

/* sd-daemon(3): "<0>" to "<7>"; how many bytes that is. */
static size_t take_level(const struct output *o, const char *line, size_t n, int *ret)
{
	*ret = o->level;
	if (!o->has_prefix || n < 3 || line[0] != '<' || line[1] < '0' || line[1] > '7' ||
	    line[2] != '>')
		return 0;
	*ret = line[1] - '0';
	return 3;
}

static void tell_withheld(struct output *o)
{
	if (o->n_withheld > 0)
		log_unit(o->unit, LOG_WARNING, 0,
			 "%" PRIu64 " lines that it printed too fast are not in this log",
			 o->n_withheld);
	o->n_withheld = 0;
}

/* May one more line go to the log? systemd.exec(5), LogRateLimitIntervalSec=. */
static bool rate_allows(struct output *o)
{
	uint64_t now = 0;

	if (o->rate_interval == 0 || o->rate_burst == 0)
		return true;
	(void) sd_event_now(o->all->event, CLOCK_BOOTTIME, &now);
	if (o->n_passed == 0 || usec_sub(now, o->rate_since) >= o->rate_interval) {
		tell_withheld(o);
		o->rate_since = now;
		o->n_passed = 0;
	}
	if (o->n_passed < o->rate_burst) {
		o->n_passed++;
		return true;
	}
	o->n_withheld++;
	return false;
}

static void keep(struct stream *s, const char *text, size_t n, int level, uint8_t flags)
{
	const struct run_log_record line = {
		.time = s->output->all->now,
		.stream = s->which,
		.flags = flags,
		.level = (uint8_t) level,
		.text = text,
		.n = n,
	};

	keeper_put(s->output->kept, &line);
}

static void forward_line(struct stream *s, const char *text, int level)
{
	struct output *o = s->output;
	const struct log_line line = {
		/* Nothing that a service says is as urgent for us as for itself. */
		.level = level < LOG_ERR ? LOG_ERR : level,
		.unit = o->unit,
		.run_id = o->run_id,
		.stream = s->which == RUN_LOG_STDOUT ? "stdout" : "stderr",
		.message = text,
		.identifier = o->identifier,
		.facility = o->facility,
	};

	if (rate_allows(o))
		log_write(&line);
}

/* A log has lines of text: NULs part them, too, and a run of them is padding, not empty lines.
 * @text is ended by one. */
static void forward(struct stream *s, const char *text, size_t n, int level)
{
	if (n == 0)
		forward_line(s, text, level);
	for (const char *end = text + n, *p = text; p < end; p += strlen(p) + 1)
		if (*p)
			forward_line(s, p, level);
}

static void line_end(struct stream *s, uint8_t flags)
{
	struct output *o = s->output;
	size_t n_prefix, n = s->n;
	int level;

	s->line[n] = '\0';
	s->n = 0;
	n_prefix = take_level(o, s->line, n, &level);
	if (level > o->level_max)
		return;
	keep(s, s->line + n_prefix, n - n_prefix, level, flags);
	if (s->forwards)
		forward(s, s->line + n_prefix, n - n_prefix, level);
}

static int line_room(struct stream *s)
{
	if (!s->line)
		s->line = malloc(OUTPUT_LINE_MAX + 1);
	return s->line ? 0 : -ENOMEM;
}

/* Not within a character: the bytes of one that has only begun stay for the next line. */
static void line_split(struct stream *s)
{
	char rest[4];
	size_t cut = s->n, kept;

	for (size_t back = 1; back <= 3; back++) {
		unsigned char c = (unsigned char) s->line[s->n - back];

		if ((c & 0xc0) == 0x80)
			continue;
		if (c >= 0xc0 && back < (c >= 0xf0 ? 4U : c >= 0xe0 ? 3U : 2U))
			cut = s->n - back;
		break;
	}
	kept = s->n - cut;
	memcpy(rest, s->line + cut, kept);
	s->n = cut;
	line_end(s, RUN_LOG_CONTINUED);
	memcpy(s->line, rest, kept);
	s->n = kept;
}

static void take_line(struct stream *s, const char *bytes, size_t n)
{
	while (n > 0) {
		size_t fits = OUTPUT_LINE_MAX - s->n < n ? OUTPUT_LINE_MAX - s->n : n;

		memcpy(s->line + s->n, bytes, fits);
		s->n += fits;
		bytes += fits;
		n -= fits;
		if (s->n == OUTPUT_LINE_MAX)
			line_split(s);
	}
}

static void take_bytes(struct stream *s, const char *bytes, size_t n)
{
	if (line_room(s) < 0)
		return;
	(void) sd_event_now(s->output->all->event, CLOCK_REALTIME, &s->output->all->now);
	while (n > 0) {
		const char *newline = memchr(bytes, '\n', n);
		size_t part = newline ? (size_t) (newline - bytes) : n;

		take_line(s, bytes, part);
		if (newline)
			line_end(s, 0);
		part += newline != NULL;
		bytes += part;
		n -= part;
	}
}

static void line_flush(struct stream *s)
{
	if (s->n > 0)
		line_end(s, RUN_LOG_UNFINISHED);
}

/* ---- pipes ---- */

static void stream_close(struct stream *s)
{
	line_flush(s);
	s->source = sd_event_source_disable_unref(s->source);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(TAKE_PTR(s->line));
}

static bool has_ended(const struct output *o)
{
	return o->stream[0].fd < 0 && o->stream[1].fd < 0;
}

static struct output *output_free(struct output *o)
{
	for (size_t i = 0; i < ELEMENTS(o->stream); i++)
		stream_close(&o->stream[i]);
	tell_withheld(o);
	sd_event_source_disable_unref(o->grace);
	DL_DELETE(*(o->is_finished ? &o->all->lingering : &o->all->list), o);
	keeper_run_unref(o->kept);
	free(o->identifier);
	free(o->unit);
	free(o);
	return NULL;
}

/* One read; how much there was, 0: nothing now, or the end (the stream is closed then). */
static size_t stream_read(struct stream *s, size_t max)
{
	char *buf = s->output->all->buf;
	ssize_t n;

	do
		n = read(s->fd, buf, max);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		take_bytes(s, buf, (size_t) n);
		if ((size_t) n == max)
			(void) sd_event_source_set_io_events(s->source, EVENTS);
		return (size_t) n;
	}
	if (n == 0 || errno != EAGAIN)
		stream_close(s);
	return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct stream *s = userdata, *out = &s->output->stream[0], *err = &s->output->stream[1];

	(void) source;
	(void) fd;
	(void) revents;
	/* Which was first nobody can know; but an error is mostly about what came before it. */
	if (s == err && out->fd >= 0)
		(void) stream_read(out, OUTPUT_TURN_MAX);
	(void) stream_read(s, OUTPUT_TURN_MAX);
	/* Mostly both come to their end at once, with the process. */
	if (s == out && s->fd < 0 && err->fd >= 0)
		(void) stream_read(err, OUTPUT_TURN_MAX);
	if (has_ended(s->output) && s->output->is_finished)
		output_free(s->output);
	return 0;
}

static int stream_open(struct stream *s, struct output *o, enum run_log_stream which,
		       int *ret_write)
{
	int fd[2], r;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	s->output = o;
	s->which = which;
	s->fd = fd[0];
	*ret_write = fd[1];
	/* Only our end: the service's is as blocking as programs expect. */
	if (fcntl(s->fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = sd_event_add_io(o->all->event, &s->source, s->fd, EVENTS, on_readable, s);
	return r < 0 ? r : sd_event_source_set_priority(s->source, o->all->priority);
}

static bool has_err_console(const struct exec_streams *s)
{
	return s->err.kind == STREAM_INHERIT ? s->out.has_console : s->err.has_console;
}

static struct output *output_make(struct outputs *all, const struct output_config *config)
{
	struct output *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->all = all;
	o->token = config->token;
	o->stream[0].fd = o->stream[1].fd = -1;
	memcpy(o->run_id, config->run_id, sizeof(o->run_id));
	o->level = config->streams->level;
	o->level_max = config->streams->level_max;
	o->has_prefix = config->streams->level_prefix;
	o->rate_interval = config->streams->rate_interval;
	o->rate_burst = config->streams->rate_burst;
	o->facility = config->streams->facility;
	o->stream[0].forwards = all->forwards || config->streams->out.has_console;
	o->stream[1].forwards = all->forwards || has_err_console(config->streams);
	o->kept = keeper_run_ref(config->kept);
	o->unit = strdup(config->unit);
	if (config->streams->identifier)
		o->identifier = strdup(config->streams->identifier);
	DL_APPEND(all->list, o);
	if (o->unit && (o->identifier || !config->streams->identifier))
		return o;
	return output_free(o);
}

static void close_end(int fd)
{
	if (fd >= 0)
		close(fd);
}

int output_new(struct outputs *all, const struct output_config *config, int *ret_out, int *ret_err,
	       struct output **ret)
{
	bool has_out = exec_streams_captures_out(config->streams),
	     has_err = exec_streams_captures_err(config->streams);
	struct output *o = NULL;
	int out = -1, err = -1, r = 0;

	if (has_out || has_err) {
		o = output_make(all, config);
		r = o ? 0 : -ENOMEM;
	}
	if (r >= 0 && has_out)
		r = stream_open(&o->stream[0], o, RUN_LOG_STDOUT, &out);
	if (r >= 0 && has_err)
		r = stream_open(&o->stream[1], o, RUN_LOG_STDERR, &err);
	if (r < 0) {
		close_end(out);
		close_end(err);
		if (o)
			output_free(o);
		return r;
	}
	*ret_out = out;
	*ret_err = err;
	*ret = o;
	return 0;
}

/* What is in the pipe now is all that the dead can have written; whoever goes on writing is not
 * waited for. */
static void stream_drain(struct stream *s)
{
	int left = 0;

	if (s->fd < 0 || ioctl(s->fd, FIONREAD, &left) < 0)
		return;
	while (left > 0 && s->fd >= 0) {
		size_t n = stream_read(s, left < OUTPUT_TURN_MAX ? (size_t) left : OUTPUT_TURN_MAX);

		if (n == 0)
			break;
		left -= (int) n;
	}
	line_flush(s);
}

static void drain(struct output *o)
{
	for (size_t i = 0; i < ELEMENTS(o->stream); i++)
		stream_drain(&o->stream[i]);
}

static void finish(struct output *o)
{
	if (o->is_finished)
		return;
	DL_DELETE(o->all->list, o);
	o->is_finished = true;
	DL_APPEND(o->all->lingering, o);
}

void output_finish(struct output *o)
{
	if (!o)
		return;
	finish(o);
	drain(o);
	/* A pipe that nobody holds is seen to be at its end now, not in a later turn. */
	for (size_t i = 0; i < ELEMENTS(o->stream); i++)
		if (o->stream[i].fd >= 0)
			(void) stream_read(&o->stream[i], OUTPUT_TURN_MAX);
	if (has_ended(o))
		output_free(o);
}

static int on_grace(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct output *o = userdata;

	(void) source;
	(void) usec;
	drain(o);
	log_unit(o->unit, LOG_INFO, 0,
		 "processes that outlived their run still hold its output, which is closed");
	output_free(o);
	return 0;
}

void outputs_leave(struct outputs *all, uint64_t token)
{
	struct output *o, *next;

	DL_FOREACH_SAFE(all->lingering, o, next) {
		if (o->token != token || o->grace)
			continue;
		drain(o);
		if (has_ended(o) ||
		    sd_event_add_time_relative(all->event, &o->grace, CLOCK_BOOTTIME, all->grace, 0,
					       on_grace, o) < 0)
			output_free(o);
	}
}

int outputs_new(sd_event *event, int64_t priority, uint64_t grace, bool forwards,
		struct outputs **ret)
{
	struct outputs *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	all->event = event;
	all->priority = priority;
	all->grace = grace;
	all->forwards = forwards;
	*ret = all;
	return 0;
}

struct outputs *outputs_free(struct outputs *all)
{
	struct output *o, *next;

	if (!all)
		return NULL;
	DL_FOREACH_SAFE(all->list, o, next) {
		drain(o);
		output_free(o);
	}
	DL_FOREACH_SAFE(all->lingering, o, next) {
		drain(o);
		output_free(o);
	}
	free(all);
	return NULL;
}
