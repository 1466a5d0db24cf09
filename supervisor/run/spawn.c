/* SPDX-License-Identifier: MIT */
#include "run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/cgroup_control.h"
#include "run/directories.h"
#include "run/identity.h"
#include "run/launch.h"
#include "run/numa.h"
#include "run/streams.h"
#include "service/cgroup_limits.h"
#include "service/environment.h"
#include "service/exec_directories.h"
#include "service/exec_limits.h"
#include "service/exec_streams.h"
#include "store/file.h"

#define NUMA_WORDS 128 /* for more nodes than any kernel is built for */
#define ENVIRONMENT_FILE_MAX ((size_t) 1024 * 1024)

/* ---- copying the request ---- */

static int copy_string(struct arena *a, const char **s)
{
	if (!*s)
		return 0;
	*s = arena_strdup(a, *s);
	return *s ? 0 : -ENOMEM;
}

static int copy_strings(struct arena *a, const char *const **list)
{
	const char **copy;
	size_t n = 0;

	if (!*list)
		return 0;
	while ((*list)[n])
		n++;
	copy = arena_alloc(a, (n + 1) * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy[i] = (*list)[i];
		if (copy_string(a, &copy[i]) < 0)
			return -ENOMEM;
	}
	*list = copy;
	return 0;
}

static int copy_files(struct arena *a, struct exec_context *exec)
{
	struct environment_file *copy =
		arena_alloc(a, (exec->n_environment_files + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < exec->n_environment_files; i++) {
		copy[i] = exec->environment_file[i];
		if (copy_string(a, &copy[i].path) < 0)
			return -ENOMEM;
	}
	exec->environment_file = copy;
	return 0;
}

static int copy_streams(struct arena *a, const struct exec_streams **streams)
{
	struct exec_streams *to;

	if (!*streams)
		return 0;
	to = arena_alloc(a, sizeof(*to));
	if (!to)
		return -ENOMEM;
	*to = **streams;
	*streams = to;
	if (to->n_data > 0) {
		char *data = arena_alloc(a, to->n_data);

		if (!data)
			return -ENOMEM;
		to->data = memcpy(data, to->data, to->n_data);
	}
	if (copy_string(a, &to->in.path) < 0 || copy_string(a, &to->out.path) < 0 ||
	    copy_string(a, &to->err.path) < 0 || copy_string(a, &to->tty_path) < 0 ||
	    copy_string(a, &to->identifier) < 0)
		return -ENOMEM;
	return 0;
}

static int copy_mask(struct arena *a, struct exec_mask *mask)
{
	unsigned long *copy = arena_alloc(a, (mask->n_words + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < mask->n_words; i++)
		copy[i] = mask->word[i];
	mask->word = copy;
	return 0;
}

static int copy_limits(struct arena *a, const struct exec_limits **limits)
{
	const struct exec_limits *from = *limits;
	struct exec_limits *copy;

	if (!from)
		return 0;
	copy = arena_alloc(a, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *from;
	copy->rlimit = arena_alloc(a, (from->n_rlimits + 1) * sizeof(*copy->rlimit));
	if (!copy->rlimit || copy_mask(a, &copy->cpus) < 0 || copy_mask(a, &copy->numa_nodes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_rlimits; i++)
		copy->rlimit[i] = from->rlimit[i];
	*limits = copy;
	return 0;
}

static int copy_cgroup(struct arena *a, const struct cgroup_limits **limits)
{
	struct cgroup_limits *copy;

	if (!*limits)
		return 0;
	copy = arena_alloc(a, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = **limits;
	copy->device = arena_alloc(a, (copy->n_devices + 1) * sizeof(*copy->device));
	if (!copy->device || copy_mask(a, &copy->cpus) < 0 || copy_mask(a, &copy->nodes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < copy->n_devices; i++) {
		copy->device[i] = (*limits)->device[i];
		if (copy_string(a, &copy->device[i].path) < 0)
			return -ENOMEM;
	}
	*limits = copy;
	return 0;
}

static int copy_directories(struct arena *a, const struct exec_directories **directories)
{
	struct exec_directories *copy;

	if (!*directories)
		return 0;
	copy = arena_alloc(a, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = **directories;
	*directories = copy;
	for (size_t i = 0; i < EXEC_DIRECTORY_COUNT; i++)
		if (copy_string(a, &copy->set[i].root) < 0 ||
		    copy_strings(a, &copy->set[i].path) < 0)
			return -ENOMEM;
	return 0;
}

static int copy_exec(struct arena *a, const struct exec_context **exec)
{
	struct exec_context *to = arena_alloc(a, sizeof(*to));

	if (!to)
		return -ENOMEM;
	*to = **exec;
	*exec = to;
	if (copy_string(a, &to->user) < 0 || copy_string(a, &to->group) < 0 ||
	    copy_string(a, &to->working_directory) < 0 ||
	    copy_strings(a, &to->supplementary_groups) < 0 ||
	    copy_strings(a, &to->environment) < 0 || copy_strings(a, &to->pass_environment) < 0 ||
	    copy_strings(a, &to->unset_environment) < 0 || copy_files(a, to) < 0 ||
	    copy_streams(a, &to->streams) < 0 || copy_limits(a, &to->limits) < 0 ||
	    copy_directories(a, &to->directories) < 0 || copy_cgroup(a, &to->cgroup) < 0)
		return -ENOMEM;
	return 0;
}

/* What a process is made of; the rest of the spec is the state machine's. */
static int copy_spec(struct arena *a, const struct service_spec *from, struct service_spec *to)
{
	*to = *from;
	memset(to->command, 0, sizeof(to->command));
	to->success = NULL;
	to->conditions = NULL;
	to->restart = NULL;
	to->dependencies = NULL;
	if (copy_string(a, &to->description) < 0 || copy_string(a, &to->type_name) < 0 ||
	    copy_exec(a, &to->exec) < 0)
		return -ENOMEM;
	return 0;
}

static int copy_monitor(struct arena *a, const struct run_monitor **monitor)
{
	struct run_monitor *copy;
	size_t n;

	if (!*monitor)
		return 0;
	n = sizeof(*copy) + strlen((*monitor)->unit) + 1;
	copy = arena_alloc(a, n);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, *monitor, n);
	*monitor = copy;
	return 0;
}

static int copy_request(struct spawn *s, const struct spawn_request *from)
{
	struct arena *a = &s->arena;

	s->request = *from;
	s->run = *from->run;
	s->run.said = NULL; /* the manager's alone */
	s->run.detail = NULL; /* a run with one has no process */
	s->command = *from->command;
	if (copy_spec(a, from->spec, &s->spec) < 0 || copy_string(a, &s->request.unit) < 0 ||
	    copy_string(a, &s->run.trigger_unit) < 0 || copy_string(a, &s->command.path) < 0 ||
	    copy_strings(a, &s->command.argv) < 0 || copy_monitor(a, &s->run.monitor) < 0)
		return -ENOMEM;
	s->run.detail = NULL;
	s->request.spec = &s->spec;
	s->request.run = &s->run;
	s->request.command = &s->command;
	return 0;
}

/* ---- preparing, in the thread ---- */

struct prepared {
	struct identity identity;
	uid_t owner; /* of RuntimeDirectory= and the others; -1: the daemon */
	gid_t owner_group;
	const char **file_assignment;
	size_t n_file_assignments;
	const char *directory;
	const char **path;
	char **environment, **argv;
};

static int fail(struct spawn *s, enum exec_step step, int r)
{
	s->step = step;
	s->error = -r;
	return r;
}

/* A pipe or a device would have us wait for whoever fills it. */
static int read_environment_file(struct spawn *s, const char *path, struct prepared *p)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	size_t n;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	r = file_read_all(fd, (size_t) st.st_size, ENVIRONMENT_FILE_MAX, &bytes, &n);
	if (r < 0)
		return r;
	return environment_file_parse(path, bytes, n, &s->scratch, &p->file_assignment,
				      &p->n_file_assignments, &s->mistakes);
}

/* The path may be a pattern; one that matches nothing is a missing file. */
static int read_environment_files(struct spawn *s, const char *pattern, struct prepared *p)
{
	glob_t found = { 0 };
	int r = 0;

	switch (glob(pattern, 0, NULL, &found)) {
	case 0:
		for (size_t i = 0; r >= 0 && i < found.gl_pathc; i++)
			r = read_environment_file(s, found.gl_pathv[i], p);
		break;
	case GLOB_NOSPACE:
		r = -ENOMEM;
		break;
	default:
		r = -ENOENT;
	}
	globfree(&found);
	return r;
}

static int prepare_files(struct spawn *s, struct prepared *p)
{
	for (size_t i = 0; i < s->spec.exec->n_environment_files; i++) {
		const struct environment_file *f = &s->spec.exec->environment_file[i];
		int r = read_environment_files(s, f->path, p);

		if (r < 0 && (r == -ENOMEM || !f->is_optional))
			return fail(s, EXEC_STEP_ENVIRONMENT, r);
	}
	return 0;
}

static const char *daemon_variable(const struct spawn *s, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *e = s->config->environment; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static bool is_home_wanted(const struct spawn *s)
{
	const char *directory = s->spec.exec->working_directory;

	return directory ? str_equal(directory, "~")
			 : !s->config->is_system && !daemon_variable(s, "HOME");
}

/* A person's services start at home, the system's at the root. */
static int prepare_directory(struct spawn *s, struct prepared *p)
{
	const char *directory = s->spec.exec->working_directory, *home = p->identity.home;

	if (directory && !str_equal(directory, "~"))
		p->directory = directory;
	else if (directory && !home)
		return fail(s, EXEC_STEP_CHDIR, -ENXIO);
	else if (directory)
		p->directory = home;
	else if (!s->config->is_system)
		p->directory = home && s->spec.exec->user ? home : daemon_variable(s, "HOME");
	if (p->directory && p->directory[0] != '/')
		p->directory = NULL;
	return 0;
}

static int prepare_environment(struct spawn *s, struct prepared *p)
{
	struct environment_input in = {
		.spec = &s->spec,
		.run = &s->run,
		.phase = s->request.phase,
		.unit = s->request.unit,
		.user_name = p->identity.name,
		.home = p->identity.home,
		.shell = p->identity.shell,
		.is_user_set = s->spec.exec->user,
		.is_system = s->config->is_system,
		.daemon = s->config->environment,
		.notify_socket = s->config->notify_socket,
		.manager_pid = getpid(),
		.file_assignment = p->file_assignment,
	};
	int r;

	r = environment_build(&in, &s->scratch, &p->environment);
	if (r >= 0)
		r = exec_command_expand(&s->command, p->environment, &s->scratch, &p->argv);
	return r < 0 ? fail(s, r == -E2BIG ? EXEC_STEP_EXEC : EXEC_STEP_ENVIRONMENT, r) : 0;
}

/* A bare name is searched where systemd searches, not where the service's own PATH points. */
static int prepare_path(struct spawn *s, struct prepared *p)
{
	const char *name = s->command.path, *dir = ENVIRONMENT_PATH, *end;
	size_t n = 0;

	/* No more folders than the string has bytes. */
	p->path = arena_alloc(&s->scratch, sizeof(ENVIRONMENT_PATH) * sizeof(*p->path));
	if (!p->path)
		return fail(s, EXEC_STEP_EXEC, -ENOMEM);
	if (strchr(name, '/')) {
		p->path[0] = name;
		return 0;
	}
	for (; *dir; dir = *end ? end + 1 : end) {
		end = strchrnul(dir, ':');
		p->path[n] = arena_printf(&s->scratch, "%.*s/%s", (int) (end - dir), dir, name);
		if (!p->path[n++])
			return fail(s, EXEC_STEP_EXEC, -ENOMEM);
	}
	return 0;
}

static int prepare(struct spawn *s, struct prepared *p)
{
	enum exec_step step;
	int r;

	r = identity_lookup(&s->spec, is_home_wanted(s), &s->scratch, &p->identity, &step);
	if (r < 0)
		return fail(s, step, r);
	p->owner = p->identity.set_user ? p->identity.uid : (uid_t) -1;
	p->owner_group = p->identity.set_group ? p->identity.gid : (gid_t) -1;
	/* It still has the user's home, environment and directories, as in systemd. */
	if (s->command.keeps_user)
		p->identity.set_user = p->identity.set_group = p->identity.set_groups = false;
	r = prepare_files(s, p);
	if (r >= 0)
		r = prepare_directory(s, p);
	if (r >= 0)
		r = prepare_environment(s, p);
	if (r >= 0)
		r = prepare_path(s, p);
	return r;
}

/* Before the streams, which may lead to files in them. */
static int make_directories(struct spawn *s, const struct prepared *p)
{
	const struct exec_directories *d = s->spec.exec->directories;
	enum exec_step step = EXEC_STEP_NONE;
	int r = d ? directories_make(d, p->owner, p->owner_group, &step) : 0;

	return r < 0 ? fail(s, step, r) : 0;
}

static const char *refusal(int r, enum cgroup_limit limit, char buf[128])
{
	switch (r) {
	case -ENOTSUP:
		return "there is no cgroup v2 of our own to be had here";
	case -ENOENT:
		(void) snprintf(buf, 128, "the controller %s of cgroup v2 is not to be had here",
				cgroup_limit_controller(limit));
		return buf;
	case -ENODEV:
		return "its device is no block device here, nor a file on one";
	case -EBUSY:
		return "other processes live in the cgroup of supd, which has to be its own for that";
	default:
		return strerror(-r);
	}
}

static void note_refusal(void *userdata, enum cgroup_limit limit, int r)
{
	const char *key = cgroup_limit_key(limit);
	struct spawn *s = userdata;
	char buf[128];

	if (r == -EMFILE || r == -ENFILE)
		(void) fail(s, EXEC_STEP_FORK, r);
	diag_add(&s->refused, DIAG_WARNING, NULL, 0, key, "%s= is not applied: %s", key,
		 refusal(r, limit, buf));
}

/* A service without its limits is better than none: what cannot be had is told. */
static void limit_cgroup(struct spawn *s)
{
	const struct cgroup_limits *l = s->spec.exec->cgroup;

	if (l && s->cgroup >= 0)
		cgroup_control_apply(s->cgroup, l, note_refusal, s);
	for (size_t i = 0; l && s->cgroup < 0 && i < CGROUP_LIMIT_COUNT; i++)
		if (cgroup_limits_has(l, (enum cgroup_limit) i))
			note_refusal(s, (enum cgroup_limit) i, -ENOTSUP);
}

/* The nodes that the policy is about. Where there is no NUMA, there are none. */
static struct exec_mask numa_nodes(struct spawn *s)
{
	const struct exec_limits *l = s->spec.exec->limits;
	struct exec_mask all = { .n_words = NUMA_WORDS };

	if (!l || !l->has_numa_policy || !l->all_numa_nodes)
		return l ? l->numa_nodes : (struct exec_mask) { 0 };
	all.word = arena_alloc(&s->scratch, all.n_words * sizeof(*all.word));
	if (!all.word ||
	    syscall(SYS_get_mempolicy, NULL, all.word, all.n_words * sizeof(*all.word) * CHAR_BIT,
		    NULL, MPOL_F_MEMS_ALLOWED) < 0)
		return (struct exec_mask) { 0 };
	return all;
}

/* CPUAffinity=numa. Without nodes it says nothing, as in systemd. */
static int take_cpus_of_nodes(struct spawn *s, const struct exec_mask *nodes)
{
	/* our copy */
	struct exec_limits *l = (struct exec_limits *) (uintptr_t) s->spec.exec->limits;
	int r;

	if (!l || !l->cpus_of_nodes || nodes->n_words == 0)
		return 0;
	r = numa_cpus(nodes, &s->arena, &l->cpus);
	return r < 0 ? fail(s, EXEC_STEP_CPU_AFFINITY, r) : 0;
}

/* It belongs to the memory of a process, which before the exec is ours: so it is set right after.
 * Through a file that was this child's for sure: as long as the child can be signalled, its number
 * is nobody else's. */
static void set_coredump_filter(struct spawn *s)
{
	_cleanup_close_ int fd = -1;
	char path[64], text[16];
	int n;

	if (!s->spec.exec->limits || !s->spec.exec->limits->has_coredump_filter)
		return;
	snprintf(path, sizeof(path), "/proc/%d/coredump_filter", (int) s->child.pid);
	n = snprintf(text, sizeof(text), "0x%x", (unsigned) s->spec.exec->limits->coredump_filter);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && syscall(SYS_pidfd_send_signal, s->child.pidfd, 0, NULL, 0) < 0)
		return;
	/* Who has ended already dumps nothing any more. */
	if ((fd < 0 && errno != ENOENT) ||
	    (fd >= 0 && write(fd, text, (size_t) n) < 0 && errno != ESRCH))
		diag_add(&s->mistakes, DIAG_WARNING, NULL, 0, "CoredumpFilter",
			 "CoredumpFilter= cannot be set: %s", strerror(errno));
}

/* A service of another user may reopen its /dev/stdout only if the pipe belongs to that user. */
static void hand_over_pipes(const struct spawn *s, const struct identity *id)
{
	if (!id->set_user)
		return;
	if (s->out >= 0)
		(void) fchown(s->out, id->uid, (gid_t) -1);
	if (s->err >= 0)
		(void) fchown(s->err, id->uid, (gid_t) -1);
}

static int open_streams(struct spawn *s, const struct identity *id, struct streams *ret)
{
	enum exec_step step;
	int r;

	hand_over_pipes(s, id);
	r = streams_open(exec_streams_of(&s->spec), s->out, s->err, s->spec.exec->umask,
			 id->set_user ? id->uid : (uid_t) -1, ret, &step);
	return r < 0 ? fail(s, step, r) : 0;
}

static void work(struct worker_job *job)
{
	struct spawn *s = (struct spawn *) job; /* its first member */
	struct prepared p = { 0 };
	struct exec_mask nodes = numa_nodes(s);
	struct streams streams;
	struct launch l;

	if (prepare(s, &p) < 0 || take_cpus_of_nodes(s, &nodes) < 0 ||
	    make_directories(s, &p) < 0 || open_streams(s, &p.identity, &streams) < 0)
		return;
	limit_cgroup(s);
	if (s->step != EXEC_STEP_NONE) {
		streams_close(&streams);
		return;
	}
	l = (struct launch) {
		.path = p.path,
		.argv = p.argv,
		.envp = p.environment,
		.identity = &p.identity,
		.directory = p.directory,
		.directory_optional = s->spec.exec->working_directory_optional,
		.in = streams.in,
		.out = streams.out,
		.err = streams.err,
		.has_terminal = streams.has_terminal,
		.force_terminal = streams.force_terminal,
		.cgroup = s->cgroup,
		.must_join = s->must_join,
		.umask = s->spec.exec->umask,
		.has_nice = s->spec.exec->has_nice,
		.nice = s->spec.exec->nice,
		.has_nofile = s->config->has_nofile,
		.nofile = s->config->nofile,
		.ignore_sigpipe = s->spec.exec->ignore_sigpipe,
		.is_unlimited = s->command.is_unlimited,
		.limits = s->spec.exec->limits,
		.numa_nodes = nodes,
		.parent_death_signal = s->config->parent_death_signal,
		.after = &s->after,
	};
	if (launch(&l, &s->child.pid, &s->child.pidfd) < 0)
		(void) fail(s, l.step, -l.error);
	else
		set_coredump_filter(s);
	streams_close(&streams);
}

/* The same up to where anything would come into being. */
static void describe(struct worker_job *job)
{
	struct spawn *s = (struct spawn *) job; /* its first member */
	struct prepared p = { 0 };
	enum exec_step step;
	int r;

	r = identity_lookup(&s->spec, is_home_wanted(s), &s->scratch, &p.identity, &step);
	if (r < 0) {
		(void) fail(s, step, r);
		return;
	}
	if (prepare_files(s, &p) >= 0)
		(void) prepare_environment(s, &p);
	s->environment = p.environment;
}

void spawn_describe(struct spawn *s)
{
	s->job.work = describe;
}

int spawn_new(const struct spawn_request *request, const struct spawn_config *config,
	      struct spawn **ret)
{
	struct spawn *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->job.work = work;
	s->config = config;
	s->child.pidfd = s->out = s->err = s->cgroup = -1;
	if (copy_request(s, request) < 0) {
		spawn_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void spawn_close_outputs(struct spawn *s)
{
	close_one(&s->out);
	close_one(&s->err);
}

static void forget_attempt(struct spawn *s)
{
	diag_done(&s->mistakes);
	diag_done(&s->refused);
	arena_done(&s->scratch);
	s->mistakes = s->refused = (struct diag) { 0 };
	s->scratch = (struct arena) { 0 };
	s->environment = NULL;
}

void spawn_retry(struct spawn *s)
{
	spawn_close_outputs(s);
	forget_attempt(s);
	s->step = EXEC_STEP_NONE;
	s->error = 0;
	s->must_join = false;
}

bool spawn_is_lack(int error)
{
	return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM ||
	       error == ENOSPC;
}

/* The file system's ENOSPC, and the EAGAIN of a file, are none of ours. */
bool spawn_lacked(const struct spawn *s)
{
	if (s->step == EXEC_STEP_NONE || s->child.pid > 0)
		return false;
	return s->error == EMFILE || s->error == ENFILE ||
	       (s->step == EXEC_STEP_FORK && spawn_is_lack(s->error));
}

struct spawn *spawn_free(struct spawn *s)
{
	if (!s)
		return NULL;
	spawn_close_outputs(s);
	close_one(&s->child.pidfd);
	forget_attempt(s);
	arena_done(&s->arena);
	free(s);
	return NULL;
}
