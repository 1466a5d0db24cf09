/* SPDX-License-Identifier: MIT */
#include "control/server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "control/client.h"
#include "control/wire.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

/* ---- a daemon that answers as told ---- */

#define ASKED_MAX 64

static struct world {
	sd_event *event;
	struct control_server *server;
	char *dir;
	char *own_dir; /* dir/supd */
	struct control_request asked[ASKED_MAX];
	char unit[ASKED_MAX][300];
	size_t n_asked;
	size_t n_rows;     /* what LIST answers */
	char events[128];  /* types and units of ReadEvents */
	bool is_answering; /* else questions stay open */
} world;

#define STRING(k, s) { .key = k, .type = SUPD_STRING, .value.string = s }

static const char *const words[] = { "a", "b" };
static const struct supd_field inner_fields[] = { STRING("message", "inner") };
static const struct supd_row inner_row = { inner_fields, ELEMENTS(inner_fields) };
static const struct supd_row inner_rows[] = { { inner_fields, 1 }, { NULL, 0 } };
static const struct supd_field all_fields[] = {
	{ .key = "null", .type = SUPD_NULL },
	{ .key = "bool", .type = SUPD_BOOL, .value.boolean = true },
	{ .key = "number", .type = SUPD_NUMBER, .value.number = INT64_MIN },
	STRING("string", "grün"),
	STRING("bytes", "a\xff\n"),
	{ .key = "timestamp", .type = SUPD_TIMESTAMP, .value.usec = SUPD_NEVER },
	{ .key = "span", .type = SUPD_SPAN, .value.usec = 1 },
	{ .key = "row", .type = SUPD_ROW, .value.row = &inner_row },
	{ .key = "rows", .type = SUPD_ROWS, .value.rows = { inner_rows, 2 } },
	{ .key = "strings", .type = SUPD_STRINGS, .value.strings = { words, 2 } },
	{ .key = "real", .type = SUPD_REAL, .value.real = 0.25 },
	{ .key = "newer", .type = (enum supd_type) 99 },
};
static const struct supd_row all_types = { all_fields, ELEMENTS(all_fields) };

static void answer(const struct control_request *request)
{
	bool is_list = request->verb == CONTROL_LIST || request->verb == CONTROL_EXPERIMENTAL;

	for (size_t i = 0; is_list && i < world.n_rows; i++)
		control_row(world.server, request->id, &all_types);
	for (size_t i = 0; request->verb == CONTROL_LOGS && i < world.n_rows; i++) {
		control_row(world.server, request->id, &all_types);
		control_flush(world.server, request->id);
		control_flush(world.server, request->id); /* nothing more to send */
		ck_assert(control_is_awaited(world.server, request->id));
	}
	if (request->verb == CONTROL_STOP)
		control_done(world.server, request->id, 4, "no unit 'x.service'\n\x1b[31m");
	else
		control_done(world.server, request->id, 0, NULL);
}

static void note_events(const struct control_request *request)
{
	(void) snprintf(world.events, sizeof(world.events), "%s", request->types ? request->types : "-");
	for (size_t i = 0; i < request->n_units; i++)
		(void) snprintf(world.events + strlen(world.events), sizeof(world.events) - strlen(world.events), " %s",
				request->units[i]);
}

static void ask(void *userdata, const struct control_request *request)
{
	ck_assert_ptr_eq(userdata, &world);
	ck_assert_uint_lt(world.n_asked, ASKED_MAX);
	world.asked[world.n_asked] = *request;
	(void) snprintf(world.unit[world.n_asked], sizeof(world.unit[0]), "%s",
			request->unit ? request->unit : "");
	world.n_asked++;
	if (request->verb == CONTROL_EVENTS)
		note_events(request);
	if (world.is_answering)
		answer(request);
}

static void serve_with(enum control_access access, usec_t patience)
{
	const struct control_config config = {
		.directory = world.own_dir,
		.read_access = access,
		.read_group = getegid(),
		.ask = ask,
		.userdata = &world,
		.patience = patience,
	};

	ck_assert_int_eq(control_server_new(world.event, &config, &world.server), 0);
}

static void serve(enum control_access access)
{
	serve_with(access, 0);
}

static void serve_impatiently(void)
{
	control_server_free(world.server);
	serve_with(CONTROL_READ_ALL, 50 * USEC_PER_MSEC);
}

static void begin(void)
{
	signal(SIGPIPE, SIG_IGN);
	world = (struct world){ .is_answering = true };
	ck_assert_int_ge(sd_event_new(&world.event), 0);
	world.dir = test_dir_new();
	ck_assert_int_eq(chmod(world.dir, 0755), 0);
	world.own_dir = test_dir_path(world.dir, "supd");
	ck_assert_int_eq(mkdir(world.own_dir, 0700), 0);
	serve(CONTROL_READ_ALL);
}

static void end(void)
{
	world.server = control_server_free(world.server);
	sd_event_unref(world.event);
	free(world.own_dir);
	test_dir_free(world.dir);
}

/* Runs the loop for as long as there is something to do. Returns the number of turns. */
static unsigned settle(void)
{
	unsigned n = 0;

	while (sd_event_run(world.event, 0) > 0)
		ck_assert_uint_lt(++n, 200000);
	return n;
}

/* ---- a real client in a thread; the loop turns until it is done ---- */

struct conversation {
	const char *method, *types, *unit, *table;
	bool wait, takes;
	size_t n_taken;
	struct control_reply reply;
	int done;
};

static struct control_question *put_question(struct control_client *client, const struct conversation *t)
{
	static const char *const some_keys[] = { "span", "bool", "nothing", NULL };

	if (str_equal(t->types, "as"))
		return control_client_ask_keys(client, t->method, t->wait ? some_keys : NULL, "");
	if (str_equal(t->types, "stbas"))
		return control_client_ask_keys(client, t->method, some_keys, "stb", t->table, UINT64_C(7), true);
	if (str_equal(t->types, "sssas"))
		return control_client_ask_keys(client, t->method, NULL, "sss", "timer", t->table, t->unit);
	if (str_equal(t->types, "sb"))
		return control_client_ask(client, t->method, "sb", t->unit, t->wait);
	if (str_equal(t->types, "sstttb"))
		return control_client_ask(client, t->method, "sstttb", t->unit, t->table, UINT64_C(1), UINT64_MAX,
					  UINT64_C(10), false);
	if (str_equal(t->types, "sbb"))
		return control_client_ask(client, t->method, "sbb", t->unit, true, false);
	if (str_equal(t->types, "s"))
		return control_client_ask(client, t->method, "s", t->unit);
	return control_client_ask(client, t->method, "");
}

static void take(void *userdata, const struct supd_row *row, size_t n)
{
	struct conversation *t = userdata;

	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(row[i].field[0].key, "null");
	t->n_taken += n;
}

static void *converse_in_thread(void *userdata)
{
	struct conversation *t = userdata;
	const struct control_place place = { .runtime_dir = world.dir };
	struct control_client *client = NULL;
	uint64_t one = 1;

	if (control_client_new(&place, &client, &t->reply) >= 0) {
		struct control_question *q = put_question(client, t);

		if (t->takes)
			control_client_take_rows(q, take, t);
		control_client_wait(client, q, &t->reply);
	}
	control_client_free(client);
	(void) !write(t->done, &one, sizeof(one));
	return NULL;
}

static int on_done(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_, void *userdata)
{
	*(bool *) userdata = true;
	return 0;
}

static struct conversation converse(struct conversation t)
{
	sd_event_source *source;
	bool is_done = false;
	pthread_t thread;

	t.done = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(sd_event_add_io(world.event, &source, t.done, EPOLLIN, on_done, &is_done), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, converse_in_thread, &t), 0);
	while (!is_done)
		ck_assert_int_ge(sd_event_run(world.event, UINT64_MAX), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	sd_event_source_disable_unref(source);
	close(t.done);
	return t;
}

static const struct {
	const char *method, *types, *unit, *table;
	enum control_verb verb;
} verbs[] = {
	{ "GetVersion", "", NULL, NULL, CONTROL_VERSION },
	{ "ListUnits", "as", NULL, NULL, CONTROL_LIST },
	{ "GetUnit", "s", "a.service", NULL, CONTROL_STATUS },
	{ "GetUnit", "s", "", NULL, CONTROL_STATUS },
	{ "ShowUnit", "s", "a@b\\x2dc.service", NULL, CONTROL_SHOW },
	{ "CatUnit", "s", "a.service", NULL, CONTROL_CAT },
	{ "GetEnvironment", "s", "a.service", NULL, CONTROL_ENVIRONMENT },
	{ "StartUnit", "sb", "a.service", NULL, CONTROL_START },
	{ "RestartUnit", "sb", "a.service", NULL, CONTROL_RESTART },
	{ "EnableUnit", "sb", "a.timer", NULL, CONTROL_ENABLE },
	{ "DisableUnit", "sb", "a.timer", NULL, CONTROL_DISABLE },
	{ "MaskUnit", "sb", "a.timer", NULL, CONTROL_MASK },
	{ "UnmaskUnit", "sb", "a.timer", NULL, CONTROL_UNMASK },
	{ "TriggerUnit", "sb", "a.timer", NULL, CONTROL_TRIGGER },
	{ "ResetUnit", "s", "a.timer", NULL, CONTROL_RESET },
	{ "Reload", "", NULL, NULL, CONTROL_RELOAD },
	{ "ListTable", "sssas", "", "units", CONTROL_TABLE },
	{ "ListExperimental", "", NULL, NULL, CONTROL_EXPERIMENTAL },
	{ "SetExperimental", "sbb", "timers", NULL, CONTROL_EXPERIMENTAL },
	{ "Pause", "", NULL, NULL, CONTROL_PAUSE },
	{ "Resume", "", NULL, NULL, CONTROL_RESUME },
	{ "ReadOutput", "sstttb", "a.service", "0aF", CONTROL_LOGS },
	{ "ReadOutput", "sstttb", "a.service", "", CONTROL_LOGS },
};

START_TEST(each_method_asks_its_verb_with_its_arguments)
{
	struct conversation t = converse((struct conversation){ .method = verbs[_i].method,
								.types = verbs[_i].types,
								.unit = verbs[_i].unit,
								.table = verbs[_i].table,
								.wait = true });
	const struct control_request *asked = &world.asked[0];

	ck_assert_msg(t.reply.status == CONTROL_OK, "%s", t.reply.message);
	ck_assert_ptr_null(t.reply.message);
	ck_assert_uint_eq(world.n_asked, 1);
	ck_assert_int_eq(asked->verb, verbs[_i].verb);
	ck_assert_uint_eq(asked->uid, geteuid());
	ck_assert(asked->is_owner);
	if (str_equal(verbs[_i].types, "sbb"))
		ck_assert(asked->on && !asked->runtime && asked->subsystem && !asked->unit);
	else
		ck_assert_str_eq(world.unit[0], verbs[_i].unit ? verbs[_i].unit : "");
	if (!verbs[_i].unit || *verbs[_i].unit == '\0')
		ck_assert_ptr_null(asked->unit);
	/* each has one: to wait, or for this boot */
	ck_assert_int_eq(asked->wait || (asked->runtime && !asked->on), str_equal(verbs[_i].types, "sb"));
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(events_are_asked_for_by_types_and_units)
{
	struct conversation t = converse((struct conversation){ .method = "ReadEvents", .types = "stbas", .table = "missed,lost" });
	const struct control_request *asked = &world.asked[0];

	ck_assert_msg(t.reply.status == CONTROL_OK, "%s", t.reply.message);
	ck_assert_uint_eq(world.n_asked, 1);
	ck_assert_int_eq(asked->verb, CONTROL_EVENTS);
	ck_assert_uint_eq(asked->lines, 7);
	ck_assert(asked->follow);
	ck_assert_str_eq(world.events, "missed,lost span bool nothing");
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(types_of_events_are_words)
{
	struct conversation t = converse((struct conversation){ .method = "ReadEvents", .types = "stbas", .table = "../x" });

	ck_assert_int_eq(t.reply.status, CONTROL_USAGE);
	ck_assert_uint_eq(world.n_asked, 0);
	control_reply_done(&t.reply);
}
END_TEST

static const struct supd_field *field(const struct supd_row *row, const char *key)
{
	for (size_t i = 0; i < row->n; i++)
		if (str_equal(row->field[i].key, key))
			return &row->field[i];
	ck_abort_msg("no field %s", key);
}

static void check_all_types(const struct supd_row *row)
{
	ck_assert_uint_eq(row->n, ELEMENTS(all_fields));
	ck_assert_int_eq(field(row, "null")->type, SUPD_NULL);
	ck_assert(field(row, "bool")->value.boolean);
	ck_assert_int_eq(field(row, "number")->value.number, INT64_MIN);
	ck_assert_str_eq(field(row, "string")->value.string, "grün");
	ck_assert_str_eq(field(row, "bytes")->value.string, "a\\xff\\n");
	ck_assert_int_eq(field(row, "timestamp")->type, SUPD_TIMESTAMP);
	ck_assert_uint_eq(field(row, "timestamp")->value.usec, SUPD_NEVER);
	ck_assert_int_eq(field(row, "span")->type, SUPD_SPAN);
	ck_assert_str_eq(field(field(row, "row")->value.row, "message")->value.string, "inner");
	ck_assert_uint_eq(field(row, "rows")->value.rows.n, 2);
	ck_assert_uint_eq(field(row, "rows")->value.rows.item[1].n, 0);
	ck_assert_str_eq(field(row, "strings")->value.strings.item[1], "b");
	ck_assert(field(row, "real")->value.real >= 0.25 && field(row, "real")->value.real <= 0.25);
	ck_assert_int_eq(field(row, "newer")->type, SUPD_NULL);
}

/* The last two come in several messages. */
static const size_t row_counts[] = { 0, 1, 1000, 40000, 80000 };

START_TEST(rows_arrive_as_they_were_sent)
{
	struct conversation t;

	world.n_rows = row_counts[_i];
	t = converse((struct conversation){ .method = "ListUnits", .types = "as" });
	ck_assert_msg(t.reply.status == CONTROL_OK, "%s", t.reply.message);
	ck_assert_uint_eq(t.reply.n, world.n_rows);
	for (size_t i = 0; i < t.reply.n; i += 997)
		check_all_types(&t.reply.row[i]);
	control_reply_done(&t.reply);
}
END_TEST

/* With takes, each as it comes; else all of them in the end. */
START_TEST(rows_may_come_ahead_one_by_one)
{
	struct conversation t = { .method = "ReadOutput", .types = "sstttb", .unit = "a.service", .table = "" };

	t.takes = _i == 1;
	world.n_rows = 3;
	t = converse(t);
	ck_assert_int_eq(t.reply.status, CONTROL_OK);
	ck_assert_uint_eq(t.reply.n, t.takes ? 0 : 3);
	ck_assert_uint_eq(t.n_taken, t.takes ? 3 : 0);
	ck_assert(!control_is_awaited(world.server, world.asked[0].id));
	ck_assert(!control_is_behind(world.server, world.asked[0].id));
	control_flush(world.server, world.asked[0].id);
	control_reply_done(&t.reply);
}
END_TEST

static const char *const no_runs[] = { "x", "0x1", "-", "0123456789abcdef0123456789abcdef0" };

START_TEST(what_is_no_run_is_not_asked_for)
{
	struct conversation t = converse((struct conversation){
		.method = "ReadOutput", .types = "sstttb", .unit = "a.service", .table = no_runs[_i] });

	ck_assert_int_eq(t.reply.status, CONTROL_USAGE);
	ck_assert_uint_eq(world.n_asked, 0);
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(only_the_keys_that_are_wanted_are_sent)
{
	struct conversation t;

	world.n_rows = 2;
	t = converse((struct conversation){ .method = "ListUnits", .types = "as", .wait = true });
	ck_assert_msg(t.reply.status == CONTROL_OK, "%s", t.reply.message);
	ck_assert_uint_eq(t.reply.n, 2);
	ck_assert_uint_eq(t.reply.row[1].n, 2);
	ck_assert_str_eq(t.reply.row[1].field[0].key, "bool");
	ck_assert_str_eq(t.reply.row[1].field[1].key, "span");
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(a_failure_is_a_status_and_a_sentence_without_control_characters)
{
	struct conversation t =
		converse((struct conversation){ .method = "StopUnit", .types = "sb", .unit = "x.service" });

	ck_assert_int_eq(t.reply.status, CONTROL_NO_UNIT);
	ck_assert_str_eq(t.reply.message, "no unit 'x.service'\\n\\x1b[31m");
	control_reply_done(&t.reply);
}
END_TEST

static const char *const bad_units[] = { "", "a b.service", "../etc", ".hidden", "-rf", "a/b.service", "ä.service",
					 "a;b" };

START_TEST(what_is_no_unit_name_is_not_asked)
{
	struct conversation t = converse(
		(struct conversation){ .method = "StartUnit", .types = "sb", .unit = bad_units[_i] });

	ck_assert_int_eq(t.reply.status, CONTROL_USAGE);
	ck_assert_uint_eq(world.n_asked, 0);
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(a_name_of_more_than_255_bytes_is_not_asked)
{
	char name[257] = "";
	struct conversation t;

	memset(name, 'a', 256);
	t = converse((struct conversation){ .method = "ShowUnit", .types = "s", .unit = name });
	ck_assert_int_eq(t.reply.status, CONTROL_USAGE);
	ck_assert_uint_eq(world.n_asked, 0);
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(a_method_that_does_not_exist_is_another_version)
{
	struct conversation t = converse((struct conversation){ .method = "RunShell", .types = "" });

	ck_assert_int_eq(t.reply.status, CONTROL_FAILED);
	ck_assert_ptr_nonnull(strstr(t.reply.message, "version"));
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(no_daemon_is_told_with_what_to_do)
{
	struct conversation t;

	world.server = control_server_free(world.server);
	t = converse((struct conversation){ .method = "GetVersion", .types = "" });
	ck_assert_int_eq(t.reply.status, CONTROL_NO_DAEMON);
	ck_assert_ptr_nonnull(strstr(t.reply.message, "start it with 'supd --runtime-dir="));
	control_reply_done(&t.reply);
}
END_TEST

/* ---- hostile and broken clients: bare sockets ---- */

static int dial(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s/private", world.own_dir);
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

#define HANDSHAKE "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n"

static int dial_and_shake(void)
{
	int fd = dial();

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(send(fd, HANDSHAKE, sizeof(HANDSHAKE) - 1, 0), sizeof(HANDSHAKE) - 1);
	settle();
	return fd;
}

static bool is_cut_off(int fd)
{
	char bytes[4096];
	ssize_t n;

	do
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	while (n > 0);
	return n == 0 || errno == ECONNRESET;
}

/* Runs the loop until @fd is cut off; the clock is not ours, so this waits for it. */
static void wait_until_cut_off(int fd)
{
	while (!is_cut_off(fd))
		ck_assert_int_ge(sd_event_run(world.event, UINT64_MAX), 0);
}

static size_t n_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

enum fate {
	CUT_OFF,   /* at once */
	TIMED_OUT, /* when the handshake, or the message, should have been over */
	IGNORED,   /* a message that means nothing */
};

static const struct {
	enum fate fate;
	const char *bytes;
	size_t n;
} garbage[] = {
#define BYTES(s) s, sizeof(s) - 1
	{ CUT_OFF, BYTES("GET / HTTP/1.1\r\nHost: x\r\n\r\nBEGIN\r\n") },
	{ TIMED_OUT, BYTES("\0\0\0\0\r\nBEGIN\r\n") },
	{ TIMED_OUT, BYTES("\0BEGIN\r\nBEGIN\r\n") },
	{ TIMED_OUT, BYTES("\0AUTH NONSENSE\r\n\r\nBEGIN\r\n") },
	{ CUT_OFF, BYTES(HANDSHAKE "xxxxxxxxxxxxxxxxxxxxxxxx") },
	{ CUT_OFF, BYTES(HANDSHAKE "l\1\0\1\xff\xff\xff\x07\1\0\0\0\0\0\0\0") },
	{ CUT_OFF, BYTES(HANDSHAKE "l\1\0\1\0\0\0\0\1\0\0\0\xff\xff\xff\xff") },
	{ IGNORED, BYTES(HANDSHAKE "l\1\0\1\0\0\0\0\1\0\0\0\0\0\0\0") }, /* no path, no member */
	{ IGNORED, BYTES(HANDSHAKE "l\1\0\1\0\0\0\0\0\0\0\0\0\0\0\0") }, /* serial 0 */
	{ IGNORED, BYTES(HANDSHAKE "l\377\0\1\0\0\0\0\1\0\0\0\0\0\0\0") }, /* type 255 */
	{ TIMED_OUT, BYTES(HANDSHAKE "l\377\0\1\0\0\0\0\1\0\0\0\0\0\0\0l\1\0") },
#undef BYTES
};

START_TEST(garbage_is_cut_off_and_costs_nothing)
{
	size_t before;
	int fd;

	serve_impatiently();
	fd = dial_and_shake();
	/* The first alarm of a loop makes a descriptor that stays. */
	close(fd);
	settle();
	before = n_descriptors();
	fd = dial();
	ck_assert_int_eq(send(fd, garbage[_i].bytes, garbage[_i].n, 0), (ssize_t) garbage[_i].n);
	settle();
	ck_assert_int_eq(is_cut_off(fd), garbage[_i].fate == CUT_OFF);
	if (garbage[_i].fate == TIMED_OUT)
		wait_until_cut_off(fd);
	close(fd);
	settle();
	ck_assert_uint_eq(n_descriptors(), before);
	ck_assert_uint_eq(world.n_asked, 0);
}
END_TEST

START_TEST(one_that_connects_and_goes_leaves_nothing_behind)
{
	int first = dial_and_shake();
	size_t before;

	close(first);
	settle();
	before = n_descriptors();
	for (size_t cut = 0; cut < sizeof(HANDSHAKE); cut++) {
		int fd = dial();

		ck_assert_int_eq(send(fd, HANDSHAKE, cut, MSG_NOSIGNAL), (ssize_t) cut);
		if (cut % 2)
			ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
		else
			close(fd);
		settle();
		if (cut % 2) {
			ck_assert(is_cut_off(fd));
			close(fd);
		}
		ck_assert_uint_eq(n_descriptors(), before);
	}
}
END_TEST

START_TEST(one_that_says_nothing_or_half_of_it_is_cut_off_in_time)
{
	int silent, slow;

	serve_impatiently();
	silent = dial();
	slow = dial_and_shake();
	ck_assert_int_eq(send(slow, "l\1\0", 3, 0), 3);
	settle();
	wait_until_cut_off(silent);
	wait_until_cut_off(slow);
	close(silent);
	close(slow);
}
END_TEST

START_TEST(an_idle_client_may_stay_and_costs_no_wakeup)
{
	int fd = dial_and_shake();

	ck_assert(!is_cut_off(fd));
	ck_assert_uint_eq(settle(), 0);
	close(fd);
}
END_TEST

/* A call of org.supd.Manager1, little endian, without a body. */
static size_t make_call(uint8_t *ret, const char *member, uint32_t serial)
{
	static const struct {
		char code, type;
		const char *value;
	} fields[] = {
		{ 1, 'o', "/org/supd/Manager1" },
		{ 2, 's', "org.supd.Manager1" },
		{ 3, 's', NULL },
	};
	size_t n = 16, fields_end;

	memset(ret, 0, 256);
	memcpy(ret, "l\1\0\1", 4);
	memcpy(ret + 8, &serial, 4);
	for (size_t i = 0; i < ELEMENTS(fields); i++) {
		const char *value = fields[i].value ? fields[i].value : member;
		uint32_t length = (uint32_t) strlen(value);

		n = (n + 7) & ~(size_t) 7;
		ret[n] = (uint8_t) fields[i].code;
		ret[n + 1] = 1;
		ret[n + 2] = (uint8_t) fields[i].type;
		memcpy(ret + n + 4, &length, 4);
		memcpy(ret + n + 8, value, length);
		n += 8 + length + 1;
	}
	fields_end = n - 16;
	memcpy(ret + 12, &(uint32_t){ (uint32_t) fields_end }, 4);
	return (n + 7) & ~(size_t) 7;
}

static void send_call(int fd, const char *member, uint32_t serial)
{
	uint8_t message[256];
	size_t n = make_call(message, member, serial);

	ck_assert_int_eq(send(fd, message, n, MSG_NOSIGNAL), (ssize_t) n);
}

START_TEST(a_call_made_before_leaving_is_still_carried_out)
{
	int fd = dial_and_shake();

	send_call(fd, "Pause", 1);
	close(fd);
	settle();
	ck_assert_uint_eq(world.n_asked, 1);
	ck_assert_int_eq(world.asked[0].verb, CONTROL_PAUSE);
}
END_TEST

START_TEST(an_answer_for_one_who_has_gone_is_dropped)
{
	int fd = dial_and_shake();

	world.is_answering = false;
	send_call(fd, "Pause", 1);
	settle();
	ck_assert_uint_eq(world.n_asked, 1);
	close(fd);
	settle();
	control_row(world.server, world.asked[0].id, &all_types);
	control_done(world.server, world.asked[0].id, 0, NULL);
	control_done(world.server, 4711, 0, NULL);
}
END_TEST

START_TEST(who_still_waits_at_the_end_is_told)
{
	char bytes[4096];
	ssize_t n;
	int fd = dial_and_shake();

	ck_assert(!is_cut_off(fd));
	world.is_answering = false;
	send_call(fd, "Pause", 1);
	settle();
	world.server = control_server_free(world.server);
	n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	ck_assert_int_gt(n, 16);
	ck_assert_int_eq(bytes[1], 3); /* an error */
	ck_assert(is_cut_off(fd));
	close(fd);
}
END_TEST

START_TEST(unanswered_calls_have_a_limit)
{
	int fd = dial_and_shake();

	world.is_answering = false;
	for (uint32_t i = 1; i <= WIRE_CALLS_MAX + 8; i++) {
		world.n_asked = 0;
		send_call(fd, "GetVersion", i);
		settle();
		ck_assert_uint_eq(world.n_asked, i <= WIRE_CALLS_MAX);
	}
	ck_assert(!is_cut_off(fd));
	close(fd);
}
END_TEST

START_TEST(one_that_does_not_read_hinders_nobody)
{
	int fd = dial_and_shake();
	struct conversation t;

	world.n_rows = 5000;
	for (uint32_t i = 1; i <= 8; i++) {
		send_call(fd, "ListExperimental", i);
		settle();
	}
	ck_assert_uint_eq(world.n_asked, 8);
	t = converse((struct conversation){ .method = "ListUnits", .types = "as" });
	ck_assert_int_eq(t.reply.status, CONTROL_OK);
	control_reply_done(&t.reply);
	close(fd);
	settle();
}
END_TEST

START_TEST(one_that_does_not_read_is_cut_off_in_time)
{
	size_t before, shaking;
	int fd;

	serve_impatiently();
	before = n_descriptors();
	fd = dial_and_shake();
	shaking = n_descriptors();
	world.n_rows = 30000;
	send_call(fd, "ListExperimental", 1);
	while (n_descriptors() >= shaking)
		ck_assert_int_ge(sd_event_run(world.event, UINT64_MAX), 0);
	ck_assert_uint_eq(world.n_asked, 1);
	ck_assert_uint_le(n_descriptors(), before + 2);
	close(fd);
}
END_TEST

/* sd-bus answers by itself to what does not exist. */
START_TEST(one_that_asks_on_and_on_and_does_not_read_is_cut_off)
{
	size_t shaking;
	int fd = dial_and_shake();
	uint8_t message[256];
	uint32_t i;

	shaking = n_descriptors();
	for (i = 1; i < 100000 && n_descriptors() >= shaking; i++) {
		(void) send(fd, message, make_call(message, "Nonsense", i), MSG_NOSIGNAL | MSG_DONTWAIT);
		settle();
	}
	ck_assert_uint_gt(i, WIRE_CALLS_MAX);
	ck_assert_uint_lt(i, 100000);
	ck_assert_uint_eq(world.n_asked, 0);
	close(fd);
}
END_TEST

START_TEST(one_that_asks_for_nonsense_and_does_not_read_is_cut_off_in_time)
{
	size_t shaking;
	int fd;

	serve_impatiently();
	fd = dial_and_shake();
	shaking = n_descriptors();
	for (uint32_t i = 1; i <= 2000; i++) {
		send_call(fd, "Nonsense", i);
		settle();
	}
	while (n_descriptors() >= shaking)
		ck_assert_int_ge(sd_event_run(world.event, UINT64_MAX), 0);
	close(fd);
}
END_TEST

START_TEST(bytes_may_come_all_at_once)
{
	uint8_t bytes[1024];
	size_t n = sizeof(HANDSHAKE) - 1;
	int fd = dial();

	memcpy(bytes, HANDSHAKE, n);
	n += make_call(bytes + n, "Resume", 1);
	n += make_call(bytes + n, "Pause", 2);
	ck_assert_int_eq(send(fd, bytes, n, 0), (ssize_t) n);
	settle();
	ck_assert_uint_eq(world.n_asked, 2);
	ck_assert_int_eq(world.asked[1].verb, CONTROL_PAUSE);
	ck_assert(!is_cut_off(fd));
	close(fd);
}
END_TEST

START_TEST(bytes_may_come_one_at_a_time)
{
	uint8_t message[256];
	size_t n = make_call(message, "Resume", 1);
	int fd = dial();

	for (size_t i = 0; i < sizeof(HANDSHAKE) - 1; i++) {
		ck_assert_int_eq(send(fd, &HANDSHAKE[i], 1, 0), 1);
		settle();
	}
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(world.n_asked, 0);
		ck_assert_int_eq(send(fd, &message[i], 1, 0), 1);
		settle();
	}
	ck_assert_uint_eq(world.n_asked, 1);
	close(fd);
}
END_TEST

START_TEST(descriptors_sent_along_are_not_received)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = (char[]){ "l" }, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&m);
	int fd = dial_and_shake(), sent = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t before;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &sent, sizeof(sent));
	settle();
	before = n_descriptors();
	ck_assert_int_eq(sendmsg(fd, &m, 0), 1);
	settle();
	ck_assert_uint_eq(n_descriptors(), before);
	close(sent);
	close(fd);
}
END_TEST

/* Four hundred at once, with room for a few: nothing spins, nothing breaks, and afterwards all is well. */
START_TEST(a_crowd_at_the_door_is_turned_away_without_spinning)
{
	const struct rlimit few = { 120, 4096 };
	struct conversation t;
	int crowd[400];
	size_t n = 0;
	pid_t pid;

	control_server_free(world.server);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	serve(CONTROL_READ_ALL);
	/* The crowd lives elsewhere: its descriptors are not ours. */
	pid = fork();
	if (pid == 0) {
		(void) setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 4096, 4096 });
		for (n = 0; n < ELEMENTS(crowd); n++)
			crowd[n] = dial();
		_exit(crowd[0] < 0);
	}
	ck_assert_int_gt(pid, 0);
	for (unsigned turns = 0; waitpid(pid, NULL, WNOHANG) == 0; turns++) {
		ck_assert_int_ge(sd_event_run(world.event, 10000), 0);
		ck_assert_uint_lt(turns, 20000);
	}
	settle();
	t = converse((struct conversation){ .method = "GetVersion", .types = "" });
	ck_assert_msg(t.reply.status == CONTROL_OK, "%s", t.reply.message);
	control_reply_done(&t.reply);
}
END_TEST

START_TEST(without_descriptors_listening_pauses_and_goes_on_later)
{
	struct rlimit limit;
	int fillers[64], clients[8];
	size_t n = 0, n_clients = 0;

	for (; n_clients < ELEMENTS(clients); n_clients++)
		ck_assert_int_ge(clients[n_clients] = dial(), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 40, limit.rlim_max }), 0);
	while (n < ELEMENTS(fillers) && (fillers[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	ck_assert_uint_lt(settle(), 20);
	ck_assert_uint_eq(settle(), 0); /* paused: nothing to do, though clients wait */
	while (n > 0)
		close(fillers[--n]);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* Later: those who waited get in. */
	for (unsigned turns = 0; turns < 3 && n_descriptors() < 40; turns++)
		ck_assert_int_ge(sd_event_run(world.event, UINT64_MAX), 0);
	settle();
	ck_assert(is_cut_off(clients[0])); /* the one that had to be turned away */
	ck_assert(!is_cut_off(clients[7]));
	while (n_clients > 0)
		close(clients[--n_clients]);
}
END_TEST

/* ---- the socket file ---- */

static const struct {
	enum control_access access;
	mode_t mode;
} modes[] = {
	{ CONTROL_READ_ALL, 0666 },
	{ CONTROL_READ_GROUP, 0660 },
	{ CONTROL_READ_NONE, 0600 },
};

START_TEST(the_mode_of_the_socket_is_that_of_the_access)
{
	_cleanup_free_ char *path = test_dir_path(world.own_dir, "private");
	struct stat st;
	mode_t mask = umask(077);

	control_server_free(world.server);
	serve(modes[_i].access);
	ck_assert_int_eq(umask(mask), 077);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, modes[_i].mode);
	ck_assert_int_eq(stat(world.own_dir, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
}
END_TEST

START_TEST(a_stale_socket_is_replaced_and_ours_is_removed)
{
	_cleanup_free_ char *path = test_dir_path(world.own_dir, "private");
	struct control_server *old = world.server;
	int fd;

	serve(CONTROL_READ_ALL); /* as if the old one had died */
	control_server_free(old);
	fd = dial_and_shake();
	ck_assert(!is_cut_off(fd));
	close(fd);
	world.server = control_server_free(world.server);
	ck_assert_int_lt(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_file_that_is_no_socket_is_left_alone)
{
	const struct control_config config = { .directory = world.own_dir, .ask = ask };
	struct control_server *s = NULL;

	world.server = control_server_free(world.server);
	test_dir_write_text(world.own_dir, "private", "mine");
	ck_assert_int_eq(control_server_new(world.event, &config, &s), -EEXIST);
	ck_assert_ptr_null(s);
}
END_TEST

START_TEST(a_path_too_long_for_an_address_works)
{
	char name[200];
	struct conversation t;

	world.server = control_server_free(world.server);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	free(world.own_dir);
	world.own_dir = test_dir_path(world.dir, name);
	ck_assert_int_eq(mkdir(world.own_dir, 0755), 0);
	world.dir = (free(world.dir), world.own_dir);
	world.own_dir = test_dir_path(world.dir, "supd");
	ck_assert_int_eq(mkdir(world.own_dir, 0755), 0);
	serve(CONTROL_READ_ALL);
	t = converse((struct conversation){ .method = "GetVersion", .types = "" });
	ck_assert_msg(t.reply.status == CONTROL_OK, "%s", t.reply.message);
	control_reply_done(&t.reply);
}
END_TEST

/* ---- other users, where the test may become one ---- */

static int as_other(const char *method, const char *types)
{
	const struct control_place place = { .runtime_dir = world.dir };
	struct conversation t = { .method = method, .types = types, .unit = "a.service" };
	struct control_client *client;

	if (setgid(4321) < 0 || setuid(4321) < 0)
		return 99;
	if (control_client_new(&place, &client, &t.reply) < 0)
		return 70;
	control_client_wait(client, put_question(client, &t), &t.reply);
	return t.reply.status == CONTROL_FAILED && strstr(t.reply.message, "uid 4321 may only look") ? 77 :
												  t.reply.status;
}

static int run_as_other(const char *method, const char *types)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(as_other(method, types));
	while (waitpid(pid, &status, WNOHANG) == 0)
		ck_assert_int_ge(sd_event_run(world.event, 10000), 0);
	return WEXITSTATUS(status);
}

START_TEST(others_look_and_do_nothing)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(run_as_other("ListUnits", "as"), 0);
	ck_assert_uint_eq(world.n_asked, 1);
	ck_assert(!world.asked[0].is_owner && world.asked[0].uid == 4321);
	ck_assert_int_eq(run_as_other("StartUnit", "sb"), 77);
	ck_assert_int_eq(run_as_other("Pause", ""), 77);
	ck_assert_uint_eq(world.n_asked, 1);
	control_server_free(world.server);
	serve(CONTROL_READ_NONE);
	ck_assert_int_eq(run_as_other("ListUnits", "as"), 70);
}
END_TEST

static Suite *server_suite(void)
{
	Suite *s = suite_create("control/server");
	TCase *tc = tcase_create("server"), *hostile = tcase_create("hostile");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, each_method_asks_its_verb_with_its_arguments, 0, ELEMENTS(verbs));
	tcase_add_test(tc, events_are_asked_for_by_types_and_units);
	tcase_add_test(tc, types_of_events_are_words);
	tcase_add_loop_test(tc, rows_arrive_as_they_were_sent, 0, ELEMENTS(row_counts));
	tcase_add_loop_test(tc, rows_may_come_ahead_one_by_one, 0, 2);
	tcase_add_loop_test(tc, what_is_no_run_is_not_asked_for, 0, ELEMENTS(no_runs));
	tcase_add_test(tc, only_the_keys_that_are_wanted_are_sent);
	tcase_add_test(tc, a_failure_is_a_status_and_a_sentence_without_control_characters);
	tcase_add_loop_test(tc, what_is_no_unit_name_is_not_asked, 0, ELEMENTS(bad_units));
	tcase_add_test(tc, a_name_of_more_than_255_bytes_is_not_asked);
	tcase_add_test(tc, a_method_that_does_not_exist_is_another_version);
	tcase_add_test(tc, no_daemon_is_told_with_what_to_do);
	tcase_add_loop_test(tc, the_mode_of_the_socket_is_that_of_the_access, 0, ELEMENTS(modes));
	tcase_add_test(tc, a_stale_socket_is_replaced_and_ours_is_removed);
	tcase_add_test(tc, a_file_that_is_no_socket_is_left_alone);
	tcase_add_test(tc, a_path_too_long_for_an_address_works);
	tcase_add_test(tc, others_look_and_do_nothing);
	suite_add_tcase(s, tc);

	tcase_add_checked_fixture(hostile, begin, end);
	tcase_set_timeout(hostile, 60);
	tcase_add_loop_test(hostile, garbage_is_cut_off_and_costs_nothing, 0, ELEMENTS(garbage));
	tcase_add_test(hostile, one_that_connects_and_goes_leaves_nothing_behind);
	tcase_add_test(hostile, one_that_says_nothing_or_half_of_it_is_cut_off_in_time);
	tcase_add_test(hostile, an_idle_client_may_stay_and_costs_no_wakeup);
	tcase_add_test(hostile, a_call_made_before_leaving_is_still_carried_out);
	tcase_add_test(hostile, an_answer_for_one_who_has_gone_is_dropped);
	tcase_add_test(hostile, who_still_waits_at_the_end_is_told);
	tcase_add_test(hostile, unanswered_calls_have_a_limit);
	tcase_add_test(hostile, one_that_does_not_read_hinders_nobody);
	tcase_add_test(hostile, one_that_does_not_read_is_cut_off_in_time);
	tcase_add_test(hostile, one_that_asks_on_and_on_and_does_not_read_is_cut_off);
	tcase_add_test(hostile, one_that_asks_for_nonsense_and_does_not_read_is_cut_off_in_time);
	tcase_add_test(hostile, bytes_may_come_all_at_once);
	tcase_add_test(hostile, bytes_may_come_one_at_a_time);
	tcase_add_test(hostile, descriptors_sent_along_are_not_received);
	tcase_add_test(hostile, a_crowd_at_the_door_is_turned_away_without_spinning);
	tcase_add_test(hostile, without_descriptors_listening_pauses_and_goes_on_later);
	suite_add_tcase(s, hostile);
	return s;
}

TEST_MAIN(server_suite)
