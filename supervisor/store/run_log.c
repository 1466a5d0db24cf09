/* SPDX-License-Identifier: MIT */
#include "store/run_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "store/file.h"
#include "store/run_log_record.h"
#include "unit/name.h"

#define SUFFIX ".log"
#define NUMBER_DIGITS 16
/* How many units have their file open. */
#define OPEN_MAX 64u
/* … and no more than one of so many descriptors that we may have. */
#define OPEN_SHARE 16u
#define SEGMENTS_PER_UNIT 8
#define SEGMENT_MAX ((uint64_t) 4 * 1024 * 1024)
/* Larger than any that is written here. */
#define READ_MAX ((size_t) 64 * 1024 * 1024)
#define RUNS_REMEMBERED 4

struct segment {
	uint64_t number, size;
	usec_t begun, written;
	bool is_ours; /* of this version: may be written on */
	bool is_tail;
	uint8_t run_id[16];
};

/* How much a run has had. */
struct share {
	uint8_t run_id[16];
	uint64_t bytes;
	bool is_tail; /* its first half is full */
};

struct unit_log {
	char *unit;
	int fd; /* of the last segment, or -1 */
	struct segment *segment; /* ascending */
	size_t n;
	uint64_t total;
	struct share run[RUNS_REMEMBERED]; /* the newest first */
	size_t n_runs;
	struct unit_log *prev, *next; /* the last used first */
};

struct run_logs {
	int dir;
	struct run_log_limits limits;
	struct unit_log *open;
	unsigned n_open;
	unsigned open_max;
	int spare; /* a descriptor to give up when there are no others; or -1 */
};

/* ---- names ---- */

int run_log_path(const char *unit, uint64_t number, char ret[RUN_LOG_PATH_SIZE])
{
	if (!unit_name_is_valid(unit))
		return -EINVAL;
	return snprintf(ret, RUN_LOG_PATH_SIZE, "%s/%016" PRIx64 SUFFIX, unit, number) <
			       RUN_LOG_PATH_SIZE
		       ? 0
		       : -ENAMETOOLONG;
}

static bool parse_name(const char *name, uint64_t *ret)
{
	char *end;

	if (strspn(name, "0123456789abcdef") != NUMBER_DIGITS ||
	    !str_equal(name + NUMBER_DIGITS, SUFFIX))
		return false;
	*ret = strtoull(name, &end, 16);
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int read_names(DIR *d, uint64_t **ret, size_t *ret_n)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n = 0;
	const struct dirent *e;

	while ((e = readdir(d))) {
		uint64_t number, *grown;

		if (!parse_name(e->d_name, &number))
			continue;
		grown = reallocarray(list, n + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list = grown;
		list[n++] = number;
	}
	if (n > 0)
		qsort(list, n, sizeof(*list), compare_numbers);
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

int run_log_list(int logs_dir, const char *unit, uint64_t **ret, size_t *ret_n)
{
	int fd, r;
	DIR *d;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	fd = openat(logs_dir, unit, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		close(fd);
		return r;
	}
	r = read_names(d, ret, ret_n);
	closedir(d);
	return r;
}

/* ---- segments ---- */

static struct segment *last_segment(struct unit_log *l)
{
	return l->n > 0 ? &l->segment[l->n - 1] : NULL;
}

static void close_segment(struct unit_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

static void remove_segment(struct run_logs *logs, struct unit_log *l, size_t i)
{
	char path[RUN_LOG_PATH_SIZE];

	if (i == l->n - 1)
		close_segment(l);
	if (run_log_path(l->unit, l->segment[i].number, path) == 0)
		(void) unlinkat(logs->dir, path, 0);
	l->total -= l->segment[i].size;
	memmove(&l->segment[i], &l->segment[i + 1], (l->n - i - 1) * sizeof(*l->segment));
	l->n--;
}

static struct segment *add_segment(struct unit_log *l)
{
	struct segment *grown = reallocarray(l->segment, l->n + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	l->segment = grown;
	grown[l->n] = (struct segment) { 0 };
	return &grown[l->n];
}

/* @run_id: for a tail; NULL: an ordinary one. */
static int begin_segment(struct run_logs *logs, struct unit_log *l, const uint8_t *run_id,
			 usec_t now)
{
	struct run_log_segment header = { .is_tail = run_id, .begun = now };
	uint64_t number = l->n > 0 ? last_segment(l)->number + 1 : 1;
	uint8_t bytes[RUN_LOG_SEGMENT_HEADER];
	char path[RUN_LOG_PATH_SIZE];
	struct segment *s;
	int r;

	close_segment(l);
	if (run_id)
		memcpy(header.run_id, run_id, sizeof(header.run_id));
	r = run_log_path(l->unit, number, path);
	s = add_segment(l);
	if (r < 0 || !s)
		return r < 0 ? r : -ENOMEM;
	if (mkdirat(logs->dir, l->unit, 0700) < 0 && errno != EEXIST)
		return -errno;
	l->fd = openat(logs->dir, path,
		       O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
		       0600);
	if (l->fd < 0)
		return -errno;
	run_log_segment_encode(&header, bytes);
	r = file_write_all(l->fd, bytes, sizeof(bytes));
	if (r < 0) {
		(void) unlinkat(logs->dir, path, 0);
		close_segment(l);
		return r;
	}
	*s = (struct segment){
		.number = number,
		.size = sizeof(bytes),
		.begun = now,
		.written = now,
		.is_ours = true,
		.is_tail = header.is_tail,
	};
	memcpy(s->run_id, header.run_id, sizeof(s->run_id));
	l->total += s->size;
	l->n++;
	return 0;
}

/* ---- what is there already ---- */

static struct share *find_share(struct unit_log *l, const uint8_t run_id[16])
{
	for (size_t i = 0; i < l->n_runs; i++)
		if (memcmp(l->run[i].run_id, run_id, sizeof(l->run[i].run_id)) == 0)
			return &l->run[i];
	return NULL;
}

static struct share *add_share(struct unit_log *l, const uint8_t run_id[16])
{
	if (l->n_runs < RUNS_REMEMBERED)
		l->n_runs++;
	memmove(&l->run[1], &l->run[0], (l->n_runs - 1) * sizeof(l->run[0]));
	l->run[0] = (struct share) { 0 };
	memcpy(l->run[0].run_id, run_id, sizeof(l->run[0].run_id));
	return &l->run[0];
}

/* The end of the last whole record; on the way, how much each run has had. */
static uint64_t measure(struct unit_log *l, const struct segment *s, const uint8_t *bytes, size_t n)
{
	size_t at = RUN_LOG_SEGMENT_HEADER, end = at;
	struct run_log_record record;

	while (run_log_record_next(bytes, n, &at, &record)) {
		struct share *share = find_share(l, record.run_id);

		if (!share)
			share = add_share(l, record.run_id);
		share->bytes += run_log_record_size(&record);
		share->is_tail |= s->is_tail;
		end = at;
	}
	return end;
}

/* The last segment is written on behind its last whole record; whatever else is wrong with it, a
 * new one is begun. */
static int resume_segment(struct run_logs *logs, struct unit_log *l)
{
	struct segment *s = last_segment(l);
	_cleanup_free_ char *bytes = NULL;
	char path[RUN_LOG_PATH_SIZE];
	uint64_t end;
	size_t n;
	int r;

	if (!s || !s->is_ours || run_log_path(l->unit, s->number, path) < 0)
		return 0;
	l->fd = openat(logs->dir, path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (l->fd < 0)
		return 0;
	r = file_read_all(l->fd, s->size, READ_MAX, &bytes, &n);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		close_segment(l);
		return 0;
	}
	end = measure(l, s, (const uint8_t *) bytes, n);
	if (end < n && ftruncate(l->fd, (off_t) end) < 0) {
		close_segment(l);
		return 0;
	}
	l->total -= s->size - end;
	s->size = end;
	return 0;
}

static usec_t time_of(const struct timespec *ts)
{
	return (usec_t) ts->tv_sec * USEC_PER_SEC + (usec_t) ts->tv_nsec / NSEC_PER_USEC;
}

static int look_at_segment(struct run_logs *logs, struct unit_log *l, uint64_t number)
{
	uint8_t bytes[RUN_LOG_SEGMENT_HEADER];
	struct run_log_segment header = { 0 };
	_cleanup_close_ int fd = -1;
	char path[RUN_LOG_PATH_SIZE];
	struct segment *s;
	struct stat st;
	ssize_t n;

	if (run_log_path(l->unit, number, path) < 0)
		return 0;
	fd = openat(logs->dir, path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	n = pread(fd, bytes, sizeof(bytes), 0);
	s = add_segment(l);
	if (!s)
		return -ENOMEM;
	*s = (struct segment){ .number = number,
			       .size = (uint64_t) st.st_size,
			       .written = time_of(&st.st_mtim) };
	if (n > 0 && run_log_segment_decode(bytes, (size_t) n, &header) == 0) {
		s->is_ours = true;
		s->begun = header.begun;
		s->is_tail = header.is_tail;
		memcpy(s->run_id, header.run_id, sizeof(s->run_id));
	}
	l->total += s->size;
	l->n++;
	return 0;
}

static int look_at_segments(struct run_logs *logs, struct unit_log *l)
{
	_cleanup_free_ uint64_t *number = NULL;
	size_t n = 0;
	int r = run_log_list(logs->dir, l->unit, &number, &n);

	if (r == -ENOENT)
		return 0;
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = look_at_segment(logs, l, number[i]);
	return r;
}

/* ---- open units ---- */

static void unit_log_free(struct run_logs *logs, struct unit_log *l)
{
	DL_DELETE(logs->open, l);
	logs->n_open--;
	close_segment(l);
	free(l->segment);
	free(l->unit);
	free(l);
}

static int unit_log_new(struct run_logs *logs, const char *unit, struct unit_log **ret)
{
	struct unit_log *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->fd = -1;
	DL_PREPEND(logs->open, l);
	logs->n_open++;
	l->unit = strdup(unit);
	r = l->unit ? look_at_segments(logs, l) : -ENOMEM;
	if (r < 0) {
		unit_log_free(logs, l);
		return r;
	}
	*ret = l;
	return 0;
}

static struct unit_log *find_open(struct run_logs *logs, const char *unit)
{
	struct unit_log *l;

	DL_FOREACH(logs->open, l)
		if (str_equal(l->unit, unit))
			return l;
	return NULL;
}

/* The last one used is the first one found; the one that was not for longest makes room. */
static int unit_log_get(struct run_logs *logs, const char *unit, struct unit_log **ret)
{
	struct unit_log *l;
	int r;

	l = find_open(logs, unit);
	if (l) {
		DL_DELETE(logs->open, l);
		DL_PREPEND(logs->open, l);
		*ret = l;
		return 0;
	}
	if (logs->n_open >= logs->open_max)
		unit_log_free(logs, logs->open->prev);
	r = unit_log_new(logs, unit, &l);
	if (r >= 0)
		r = resume_segment(logs, l);
	if (r >= 0)
		*ret = l;
	return r;
}

/* ---- bounds ---- */

static bool has_room(const struct run_logs *logs, const struct segment *s, size_t n, uint64_t max,
		     usec_t now)
{
	if (s->size <= RUN_LOG_SEGMENT_HEADER)
		return true;
	return s->size + n <= max &&
	       usec_sub(now, s->begun) <= logs->limits.max_age / SEGMENTS_PER_UNIT;
}

static uint64_t segment_max(const struct run_logs *logs)
{
	uint64_t max = logs->limits.per_unit / SEGMENTS_PER_UNIT;

	return max < SEGMENT_MAX ? max : SEGMENT_MAX;
}

static int ordinary_place(struct run_logs *logs, struct unit_log *l, size_t n, usec_t now)
{
	const struct segment *s = last_segment(l);

	if (l->fd >= 0 && !s->is_tail && has_room(logs, s, n, segment_max(logs), now))
		return 0;
	return begin_segment(logs, l, NULL, now);
}

static bool is_tail_of(const struct segment *s, const uint8_t run_id[16])
{
	return s->is_tail && memcmp(s->run_id, run_id, sizeof(s->run_id)) == 0;
}

static uint64_t tail_segment_max(const struct run_logs *logs)
{
	uint64_t max = logs->limits.per_run / 4;

	return max < SEGMENT_MAX ? max : SEGMENT_MAX;
}

/* The elder ones of the run's tail, so that with one more the tail is as long as it may be. */
static void shorten_tail(struct run_logs *logs, struct unit_log *l, const uint8_t run_id[16])
{
	uint64_t n_max = logs->limits.per_run / 2 / tail_segment_max(logs), n = 0;

	for (size_t i = l->n; i-- > 0;)
		if (is_tail_of(&l->segment[i], run_id) && ++n >= n_max)
			remove_segment(logs, l, i);
}

static int tail_place(struct run_logs *logs, struct unit_log *l, const uint8_t run_id[16], size_t n,
		      usec_t now)
{
	const struct segment *s = last_segment(l);

	if (l->fd >= 0 && is_tail_of(s, run_id) &&
	    has_room(logs, s, n, tail_segment_max(logs), now))
		return 0;
	shorten_tail(logs, l, run_id);
	return begin_segment(logs, l, run_id, now);
}

/* 0: the last segment is where it goes; 1: nowhere. */
static int find_place(struct run_logs *logs, struct unit_log *l, const uint8_t run_id[16], size_t n,
		      usec_t now)
{
	struct share *share = find_share(l, run_id);
	bool is_newest;

	if (!share)
		share = add_share(l, run_id);
	is_newest = share == &l->run[0];
	share->is_tail |= share->bytes + n > logs->limits.per_run / 2;
	share->bytes += n;
	if (!share->is_tail)
		return ordinary_place(logs, l, n, now);
	return is_newest ? tail_place(logs, l, run_id, n, now) : 1;
}

/* The segment that is written to stays. */
static void limit_unit(struct run_logs *logs, struct unit_log *l, usec_t now)
{
	while (l->n > 1 && (l->total > logs->limits.per_unit ||
			    usec_add(l->segment[0].written, logs->limits.max_age) < now))
		remove_segment(logs, l, 0);
}

/* ---- writing ---- */

static int write_to_last(struct unit_log *l, const void *bytes, size_t n, usec_t now)
{
	struct segment *s = last_segment(l);
	int r = file_write_all(l->fd, bytes, n);

	if (r < 0) {
		/* A record that is not whole would hide nothing, but a new segment is cleaner than
		 * half a one. */
		if (ftruncate(l->fd, (off_t) s->size) < 0)
			close_segment(l);
		return r;
	}
	s->size += n;
	s->written = now;
	l->total += n;
	return 0;
}

static void take_spare(struct run_logs *logs)
{
	if (logs->spare < 0)
		logs->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Descriptors for the unit at hand: those of the others, and the spare one. */
static void free_descriptors(struct run_logs *logs)
{
	while (logs->open)
		unit_log_free(logs, logs->open);
	if (logs->spare >= 0)
		close(logs->spare);
	logs->spare = -1;
}

static int append(struct run_logs *logs, const char *unit, const uint8_t run_id[16],
		  const void *bytes, size_t n, usec_t now)
{
	struct unit_log *l;
	int r = unit_log_get(logs, unit, &l);

	if (r < 0)
		return r;
	r = find_place(logs, l, run_id, n, now);
	if (r == 0)
		r = write_to_last(l, bytes, n, now);
	limit_unit(logs, l, now);
	return r;
}

int run_logs_append(struct run_logs *logs, const char *unit, const uint8_t run_id[16],
		    const void *bytes, size_t n, usec_t now)
{
	int r = append(logs, unit, run_id, bytes, n, now);

	if (r == -EMFILE || r == -ENFILE) {
		free_descriptors(logs);
		r = append(logs, unit, run_id, bytes, n, now);
	}
	take_spare(logs);
	return r;
}

static void sweep_unit(struct run_logs *logs, const char *unit, usec_t now)
{
	struct unit_log *l = find_open(logs, unit);
	bool was_open = l;

	if (!unit_name_is_valid(unit) || (!l && unit_log_new(logs, unit, &l) < 0))
		return;
	limit_unit(logs, l, now);
	if (l->n == 1 && usec_add(l->segment[0].written, logs->limits.max_age) < now)
		remove_segment(logs, l, 0);
	if (l->n == 0)
		(void) unlinkat(logs->dir, unit, AT_REMOVEDIR);
	if (l->n == 0 || !was_open)
		unit_log_free(logs, l);
}

void run_logs_sweep(struct run_logs *logs, usec_t now)
{
	int fd = openat(logs->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		sweep_unit(logs, e->d_name, now);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* ---- life ---- */

static unsigned find_open_max(void)
{
	struct rlimit limit;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return OPEN_MAX;
	n = limit.rlim_cur / OPEN_SHARE;
	return n < 1 ? 1 : n < OPEN_MAX ? (unsigned) n : OPEN_MAX;
}

int run_logs_new(int state_dir, const struct run_log_limits *limits, struct run_logs **ret)
{
	struct run_logs *logs = calloc(1, sizeof(*logs));
	int r;

	if (!logs)
		return -ENOMEM;
	logs->limits = *limits;
	logs->spare = -1;
	logs->open_max = find_open_max();
	if (logs->limits.per_run < RUN_LOG_PER_RUN_MIN)
		logs->limits.per_run = RUN_LOG_PER_RUN_MIN;
	if (logs->limits.per_unit < logs->limits.per_run)
		logs->limits.per_unit = logs->limits.per_run;
	if (mkdirat(state_dir, RUN_LOG_DIRECTORY, 0700) < 0 && errno != EEXIST) {
		r = -errno;
		free(logs);
		return r;
	}
	logs->dir = openat(state_dir, RUN_LOG_DIRECTORY,
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (logs->dir < 0) {
		r = -errno;
		free(logs);
		return r;
	}
	take_spare(logs);
	*ret = logs;
	return 0;
}

struct run_logs *run_logs_free(struct run_logs *logs)
{
	if (!logs)
		return NULL;
	while (logs->open)
		unit_log_free(logs, logs->open);
	if (logs->spare >= 0)
		close(logs->spare);
	close(logs->dir);
	free(logs);
	return NULL;
}
