/* SPDX-License-Identifier: MIT */
#include "timer/zone_load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "timer/calendar.h"
#include "timer/zone.h"

#define DATABASE "/usr/share/zoneinfo"
#define FILE_MAX (256 * 1024) /* the largest file of the database has 4 KiB */

/* Tells whether a file is still the one that was read. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

/* One zone of the database. Entries stay where they are: slots are lent. */
struct entry {
	struct entry *next;
	struct zone_slot slot;
	struct zone *zone; /* what @slot shows */
	struct stamp stamp;
	char name[];
};

struct zone_cache {
	char *tz, *dir, *localtime;
	struct entry *entries;
	struct zone *local; /* NULL: UTC */
	struct stamp local_stamp;
	char *local_problem;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void) close(*fd);
}

struct zone_source zone_source_from_environment(void)
{
	return (struct zone_source) { .tz = getenv("TZ"), .dir = getenv("TZDIR") };
}

/* Letters, digits, '-', '_', '+' and single '/' inside: neither absolute nor with a "..". */
static bool name_is_sound(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-_+/";
	size_t n = strlen(name);

	return n > 0 && n < PATH_MAX - 256 && strspn(name, allowed) == n && name[0] != '/' &&
	       name[n - 1] != '/' && !strstr(name, "//");
}

static struct stamp stamp_of(const struct stat *st)
{
	return (struct stamp) { st->st_dev, st->st_ino, st->st_size, st->st_mtim };
}

static bool stamps_match(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* The whole of a regular file; returns its size, or a negative errno. */
static ssize_t read_file(const char *path, void *buf, size_t size, struct stamp *ret_stamp)
{
	_cleanup_(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t used = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	while (used < size) {
		ssize_t n = read(fd, (char *) buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t) n;
	}
	*ret_stamp = stamp_of(&st);
	return used < size ? (ssize_t) used : -EFBIG;
}

static int load_path(const char *path, struct zone **ret, struct stamp *ret_stamp,
		     struct parse_error *reterr)
{
	_cleanup_free_ char *buf = malloc(FILE_MAX);
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	n = read_file(path, buf, FILE_MAX, ret_stamp);
	if (n < 0)
		return (int) n;
	return zone_from_tzif(buf, (size_t) n, ret, reterr);
}

/* Where a zone's file is: in TZDIR, or in the database. */
static int find_file(const struct zone_cache *cache, const char *name, char ret_path[PATH_MAX],
		     struct stamp *ret_stamp)
{
	const char *const dirs[] = { cache->dir, DATABASE };
	struct stat st;

	for (size_t i = 0; i < ELEMENTS(dirs); i++) {
		int n = dirs[i] ? snprintf(ret_path, PATH_MAX, "%s/%s", dirs[i], name) : 0;

		if (n <= 0 || n >= PATH_MAX || stat(ret_path, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		*ret_stamp = stamp_of(&st);
		return 0;
	}
	return -ENOENT;
}

/* Puts the name and a hint around what went wrong. */
static int name_error(const char *name, int r, struct parse_error *reterr)
{
	struct parse_error why = { .column = 0, .sentence = "" };

	if (r == -ENOMEM)
		return r;
	if (r == -EBADMSG && reterr) {
		why = *reterr;
		return parse_error_at(reterr, 1, "time zone '%.40s' cannot be used: %.100s", name,
				      why.sentence);
	}
	if (r == -ENOENT)
		return parse_error_at(reterr, 1,
				      "no time zone '%.40s' in the system's database (is "
				      "the package tzdata installed?)",
				      name);
	return parse_error_at(reterr, 1, "time zone '%.40s' cannot be read: %s", name,
			      strerror(-r));
}

static struct entry *find_entry(const struct zone_cache *cache, const char *name)
{
	struct entry *entry = cache->entries;

	while (entry && strcmp(entry->name, name) != 0)
		entry = entry->next;
	return entry;
}

static int add_entry(struct zone_cache *cache, const char *name, struct entry **ret,
		     struct parse_error *reterr)
{
	_cleanup_free_ struct entry *entry = calloc(1, sizeof(*entry) + strlen(name) + 1);
	char path[PATH_MAX];
	int r;

	if (!entry)
		return -ENOMEM;
	r = find_file(cache, name, path, &entry->stamp);
	if (r == 0)
		r = load_path(path, &entry->zone, &entry->stamp, reterr);
	if (r < 0)
		return name_error(name, r, reterr);
	strcpy(entry->name, name);
	entry->slot.zone = entry->zone;
	entry->next = cache->entries;
	cache->entries = entry;
	*ret = TAKE_PTR(entry);
	return 0;
}

int zone_cache_get(struct zone_cache *cache, const char *name, const struct zone_slot **ret,
		   struct parse_error *reterr)
{
	struct entry *entry;
	int r;

	if (!name_is_sound(name))
		return parse_error_at(reterr, 1, "'%.40s' is not the name of a time zone", name);
	entry = find_entry(cache, name);
	if (!entry) {
		r = add_entry(cache, name, &entry, reterr);
		if (r < 0)
			return r;
	}
	*ret = &entry->slot;
	return 0;
}

const struct zone *zone_cache_find(void *cache, const char *name)
{
	const struct zone_slot *slot;

	return zone_cache_get(cache, name, &slot, NULL) == 0 ? slot->zone : NULL;
}

int zone_cache_bind(struct zone_cache *cache, struct calendar *calendar, struct parse_error *reterr)
{
	const struct zone *local = zone_cache_local(cache);
	const char *word = calendar->zone_word;
	int r;

	if (calendar->zone_kind != CALENDAR_ZONE_WORD)
		return 0;
	for (int is_dst = 0; is_dst < 2; is_dst++)
		if (strcasecmp(word, zone_name_of(local, is_dst)) == 0) {
			calendar->zone_kind = is_dst ? CALENDAR_ZONE_DST : CALENDAR_ZONE_STD;
			return 0;
		}
	r = zone_cache_get(cache, word, &calendar->slot, reterr);
	if (r == 0)
		calendar->zone_kind = CALENDAR_ZONE_NAMED;
	else if (r == -EBADMSG && reterr)
		reterr->column = (unsigned) (word - calendar->text) + 1;
	return r;
}

int zone_cache_parse(struct zone_cache *cache, const char *text, struct calendar *ret,
		     struct parse_error *reterr)
{
	struct calendar calendar;
	int r = calendar_parse(text, &calendar, reterr);

	if (r == 0)
		r = zone_cache_bind(cache, &calendar, reterr);
	if (r == 0)
		*ret = calendar;
	return r;
}

/* TZ names a file, or it is a rule. */
static int load_tz(const struct zone_cache *cache, const char *tz, struct zone **ret,
		   struct stamp *ret_stamp, struct parse_error *reterr)
{
	char path[PATH_MAX];
	int r;

	if (tz[0] == '/')
		return load_path(tz, ret, ret_stamp, reterr);
	if (name_is_sound(tz) && find_file(cache, tz, path, ret_stamp) == 0)
		return load_path(path, ret, ret_stamp, reterr);
	r = zone_from_posix(tz, ret, NULL);
	return r == -EBADMSG ? -ENOENT : r;
}

/* As libc: no TZ is /etc/localtime, and if that is missing, UTC; an empty TZ is UTC. *ret is NULL
 * for UTC. */
static int load_local(const struct zone_cache *cache, struct zone **ret, struct stamp *ret_stamp,
		      struct parse_error *reterr)
{
	const char *tz = cache->tz;
	int r;

	*ret = NULL;
	memset(ret_stamp, 0, sizeof(*ret_stamp));
	if (!tz) {
		r = load_path(cache->localtime, ret, ret_stamp, reterr);
		return r == -ENOENT ? 0 : r == -ENOMEM ? r : r < 0
			? name_error(cache->localtime, r, reterr) : 0;
	}
	if (tz[0] == ':')
		tz++;
	if (tz[0] == '\0')
		return 0;
	r = load_tz(cache, tz, ret, ret_stamp, reterr);
	if (r == -ENOENT && strcasecmp(tz, "UTC") == 0)
		return 0;
	return r < 0 ? name_error(tz, r, reterr) : 0;
}

static bool stamp_is_current(const struct stamp *stamp, const char *path)
{
	struct stat st;
	struct stamp now;

	if (stat(path, &st) < 0)
		return true; /* gone: what was read goes on to hold */
	now = stamp_of(&st);
	return stamps_match(stamp, &now);
}

static bool local_is_current(const struct zone_cache *cache)
{
	const char *tz = cache->tz;
	struct stamp stamp;
	char path[PATH_MAX];

	if (!tz)
		return stamp_is_current(&cache->local_stamp, cache->localtime);
	if (tz[0] == ':')
		tz++;
	if (tz[0] == '/')
		return stamp_is_current(&cache->local_stamp, tz);
	return !name_is_sound(tz) || find_file(cache, tz, path, &stamp) < 0 ||
	       stamps_match(&stamp, &cache->local_stamp);
}

static bool refresh_local(struct zone_cache *cache)
{
	struct stamp stamp;
	struct zone *zone;

	if (local_is_current(cache) || load_local(cache, &zone, &stamp, NULL) < 0)
		return false;
	zone_free(cache->local);
	free(cache->local_problem);
	cache->local = zone;
	cache->local_stamp = stamp;
	cache->local_problem = NULL;
	return true;
}

static bool refresh_entry(const struct zone_cache *cache, struct entry *entry)
{
	char path[PATH_MAX];
	struct stamp stamp;
	struct zone *zone;

	if (find_file(cache, entry->name, path, &stamp) < 0 ||
	    stamps_match(&stamp, &entry->stamp) || load_path(path, &zone, &stamp, NULL) < 0)
		return false;
	zone_free(entry->zone);
	entry->zone = zone;
	entry->slot.zone = zone;
	entry->stamp = stamp;
	return true;
}

bool zone_cache_refresh(struct zone_cache *cache)
{
	bool changed = refresh_local(cache);

	for (struct entry *entry = cache->entries; entry; entry = entry->next)
		changed |= refresh_entry(cache, entry);
	return changed;
}

static int copy_string(const char *from, char **ret)
{
	*ret = from ? strdup(from) : NULL;
	return from && !*ret ? -ENOMEM : 0;
}

int zone_cache_new(const struct zone_source *source, struct zone_cache **ret)
{
	struct zone_cache *cache = calloc(1, sizeof(*cache));
	struct parse_error problem;
	int r;

	if (!cache)
		return -ENOMEM;
	r = copy_string(source->tz, &cache->tz);
	if (r == 0)
		r = copy_string(source->dir, &cache->dir);
	if (r == 0)
		r = copy_string(source->localtime ? source->localtime : "/etc/localtime",
				&cache->localtime);
	if (r == 0)
		r = load_local(cache, &cache->local, &cache->local_stamp, &problem);
	if (r == -EBADMSG)
		r = copy_string(problem.sentence, &cache->local_problem);
	if (r < 0) {
		zone_cache_free(cache);
		return r;
	}
	*ret = cache;
	return 0;
}

struct zone_cache *zone_cache_free(struct zone_cache *cache)
{
	if (!cache)
		return NULL;
	while (cache->entries) {
		struct entry *entry = cache->entries;

		cache->entries = entry->next;
		zone_free(entry->zone);
		free(entry);
	}
	zone_free(cache->local);
	free(cache->tz);
	free(cache->dir);
	free(cache->localtime);
	free(cache->local_problem);
	free(cache);
	return NULL;
}

const struct zone *zone_cache_local(const struct zone_cache *cache)
{
	return cache->local ? cache->local : zone_utc();
}

const char *zone_cache_local_problem(const struct zone_cache *cache)
{
	return cache->local_problem;
}
