/* SPDX-License-Identifier: MIT */
#include "run/runtime_directories.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "run/directories.h"
#include "run/worker.h"

struct removal {
	struct worker_job job;
	char *root, *path;
};

static struct removal *removal_free(struct removal *r)
{
	if (!r)
		return NULL;
	free(r->root);
	free(r->path);
	free(r);
	return NULL;
}

static void work(struct worker_job *job)
{
	struct removal *r = (struct removal *) job; /* its first member */

	(void) directories_remove(r->root, r->path);
}

static void done(struct worker_job *job)
{
	removal_free((struct removal *) job);
}

/* Nobody comes after us who would do it. */
static void drop(struct worker_job *job)
{
	work(job);
	done(job);
}

static struct removal *removal_new(const char *root)
{
	struct removal *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->job = (struct worker_job) { .work = work, .done = done, .drop = drop };
	r->root = strdup(root);
	return r->root ? r : removal_free(r);
}

static void discard(struct worker *worker, const char *root, const char *path)
{
	struct removal *removal = removal_new(root);
	int r = removal ? directories_set_aside(root, path, &removal->path) : -ENOMEM;

	if (r < 0) {
		if (r != -ENOENT)
			log_warning(r, "%s/%s cannot be removed", root, path);
		removal_free(removal);
	} else if (worker)
		worker_submit(worker, &removal->job);
	else
		drop(&removal->job);
}

void runtime_directories_discard(struct worker *worker, const struct exec_directories *d)
{
	const struct exec_directory_set *set = &d->set[EXEC_DIRECTORY_RUNTIME];

	for (const char *const *path = set->path; path && *path; path++)
		discard(worker, set->root, *path);
}
