/* SPDX-License-Identifier: MIT */
#include "run/plugin_loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "supd-plugin.h"

#define SYMBOL "supd_plugin_1"

struct opened {
	char *name, *path;
	const struct supd_plugin *plugin;
	struct opened *next;
};

struct plugin_loader {
	char *dir;
	struct opened *opened;
};

/* Where the sentence goes. */
struct reply {
	char *text;
	size_t n;
};

static int _printf_(3, 4) refuse(const struct reply *reply, int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reply->text, reply->n, fmt, ap);
	va_end(ap);
	return r;
}

/* Root's or ours, and nobody else's to write. */
static int check_owner(const struct stat *st, const char *path, const struct reply *reply)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return refuse(reply, -EPERM, "%s belongs to user %u, not to root or us; not loaded",
			      path, (unsigned) st->st_uid);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return refuse(reply, -EPERM, "%s may be written by others; not loaded", path);
	return 0;
}

static int check_file(const char *path, const struct reply *reply)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return refuse(reply, -errno, "plugin %s cannot be loaded: %s", path,
			      strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(reply, -ENOEXEC, "%s is not a regular file; not loaded", path);
	return check_owner(&st, path, reply);
}

/* The folder that the file really lies in, too: who may write there may put another in its
 * place. */
static int check_folder(const char *path, const struct reply *reply)
{
	_cleanup_free_ char *folder = strdup(path);
	struct stat st;
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!slash)
		return refuse(reply, -ENOMEM, "out of memory");
	slash[slash == folder] = '\0';
	if (stat(folder, &st) < 0)
		return refuse(reply, -errno, "plugin %s cannot be loaded: %s", path,
			      strerror(errno));
	return check_owner(&st, folder, reply);
}

static int check_path(const char *path, const struct reply *reply)
{
	_cleanup_free_ char *real = NULL;
	int r;

	r = check_folder(path, reply);
	if (r >= 0)
		r = check_file(path, reply);
	if (r < 0)
		return r;
	real = realpath(path, NULL);
	if (!real)
		return refuse(reply, -errno, "plugin %s cannot be loaded: %s", path,
			      strerror(errno));
	return str_equal(real, path) ? 0 : check_folder(real, reply);
}

static int map(const char *path, const struct supd_plugin **ret, const struct reply *reply)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct supd_plugin *plugin;

	if (!handle)
		return refuse(reply, -ENOEXEC, "plugin %s cannot be loaded: %s", path, dlerror());
	plugin = dlsym(handle, SYMBOL);
	if (!plugin) {
		dlclose(handle);
		return refuse(reply, -ENOEXEC, "plugin %s exports no %s", path, SYMBOL);
	}
	*ret = plugin;
	return 0;
}

static struct opened *opened_free(struct opened *o)
{
	if (!o)
		return NULL;
	free(o->name);
	free(o->path);
	free(o);
	return NULL;
}

static int open_new(struct plugin_loader *l, const char *name, struct opened **ret,
		    const struct reply *reply)
{
	struct opened *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return refuse(reply, -ENOMEM, "out of memory");
	o->name = strdup(name);
	if (asprintf(&o->path, "%s/%s.so", l->dir, name) < 0)
		o->path = NULL;
	if (o->name && o->path)
		r = check_path(o->path, reply);
	else
		r = refuse(reply, -ENOMEM, "out of memory");
	if (r >= 0)
		r = map(o->path, &o->plugin, reply);
	if (r < 0) {
		opened_free(o);
		return r;
	}
	LL_PREPEND(l->opened, o);
	*ret = o;
	return 0;
}

/* A word, and never a path. */
static bool is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && name[n] == '\0' && name[0] != '-';
}

int plugin_loader_open(struct plugin_loader *l, const char *name, const struct supd_plugin **ret,
		       char *reterr_or_path, size_t n)
{
	struct reply reply = { reterr_or_path, n };
	struct opened *o;
	char shown[64];
	int r;

	if (!is_name(name))
		return refuse(&reply, -EINVAL, "'%s' is not a plugin's name",
			      text_escape_to(shown, sizeof(shown), name));
	LL_FOREACH(l->opened, o)
		if (str_equal(o->name, name))
			break;
	if (!o) {
		r = open_new(l, name, &o, &reply);
		if (r < 0)
			return r;
	}
	snprintf(reterr_or_path, n, "%s", o->path);
	*ret = o->plugin;
	return 0;
}

int plugin_loader_new(const char *dir, struct plugin_loader **ret)
{
	struct plugin_loader *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->dir = realpath(dir, NULL);
	/* A folder that is not there yet may come. */
	if (!l->dir)
		l->dir = strdup(dir);
	if (!l->dir) {
		free(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

struct plugin_loader *plugin_loader_free(struct plugin_loader *l)
{
	struct opened *o, *next;

	if (!l)
		return NULL;
	LL_FOREACH_SAFE(l->opened, o, next)
		opened_free(o);
	free(l->dir);
	free(l);
	return NULL;
}
