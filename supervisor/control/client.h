/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_CLIENT_H
#define SUPD_CONTROL_CLIENT_H

/* The other end of the private socket: asks, waits as long as it takes, and turns whatever comes of
 * it (an answer, a refusal, a daemon that is not there) into the same thing: rows, an exit status,
 * a sentence. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "supd-plugin.h"

/* Exit statuses of supctl, and of every answer. */
enum control_status {
	CONTROL_OK = 0,
	CONTROL_FAILED = 1,
	CONTROL_USAGE = 2,
	CONTROL_NOT_ACTIVE = 3,
	CONTROL_NO_UNIT = 4, /* or an invalid one */
	CONTROL_NO_DAEMON = 69,
};

struct control_client;
struct control_question;
struct sd_bus_message;

/* All zero holds nothing. */
struct control_reply {
	int status;          /* enum control_status */
	const char *message; /* NULL: nothing to say */
	struct supd_row *row;
	size_t n;
	struct arena arena;
	struct sd_bus_message **held; /* messages that lend their text to the rows */
	size_t n_held;
};

void control_reply_done(struct control_reply *r);

/* Where the daemon listens. */
struct control_place {
	const char *runtime_dir; /* --runtime-dir=, or NULL: $SUPD_RUNTIME_DIR */
	bool is_user;            /* a person's own daemon: $XDG_RUNTIME_DIR, else /run/user/UID */
};

/* The directory in which the daemon has its folder "supd". The caller frees it; NULL: out of
 * memory. */
char *control_place_runtime_dir(const struct control_place *place);

/* 0; or negative, with *reterr telling why there is no connection. */
int control_client_new(const struct control_place *place, struct control_client **ret,
		       struct control_reply *reterr);
struct control_client *control_client_free(struct control_client *c);

/* Asks @method; its arguments follow as sd_bus_message_append() takes them ("sb", unit, wait).
 * Never fails but for want of memory (NULL): what goes wrong is in the answer. */
struct control_question *control_client_ask(struct control_client *c, const char *method,
					    const char *types, ...);
/* The same for methods of which the last argument says which keys of rows are wanted: @keys,
 * NULL-terminated; NULL: all. */
struct control_question *control_client_ask_keys(struct control_client *c, const char *method,
						 const char *const *keys, const char *types, ...);
/* Rows that come ahead of the answer are given to @take, each message's at once, instead of being
 * kept for the reply; they are lent during the call. */
typedef void control_take_fn(void *userdata, const struct supd_row *row, size_t n);
void control_client_take_rows(struct control_question *q, control_take_fn *take, void *userdata);
/* While an answer is waited for, @fn is called when @fd can be read. Lent; -1: nothing any more. */
void control_client_watch(struct control_client *c, int fd, void (*fn)(void *userdata, int fd),
			  void *userdata);
/* Waits for the answer. Takes @q; NULL is an answer of its own. */
void control_client_wait(struct control_client *c, struct control_question *q,
			 struct control_reply *ret);

#endif
