/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_DAEMON_H
#define SUPD_RUN_DAEMON_H

/* What makes a process a daemon: what it does before anything else, the signals it obeys, spare
 * descriptors, and what it tells systemd, where that is its parent. supd(8), SIGNALS. */

#include <stdbool.h>
#include <sys/resource.h>
#include <systemd/sd-event.h>

#include "supd-plugin.h"

/* What the process was given, and services are to get back. */
struct daemon_inheritance {
	bool has_nofile;
	struct rlimit nofile;
	char *title; /* the memory of argv, which may be overwritten for ps(1) */
	size_t title_size;
};

/* First of all, in this order: descriptors 0–2 are open (to /dev/null where they were not); argv
 * has a name; umask 0077; SIGPIPE, SIGXFSZ and signals that mean nothing to us are ignored; those
 * of daemon_signals_new() and SIGCHLD are blocked, all others as a fresh process has them; orphans
 * come to us (subreaper, or PID 1); as many descriptors as we may have. 0, or a negative errno: go
 * no further. */
int daemon_prepare(int argc, char **argv, struct daemon_inheritance *ret);

/* SIGTERM, SIGINT, SIGPWR, SIGRTMIN+3 to SIGRTMIN+6: stop. @again: one came before; @hurry: the
 * second SIGINT, from somebody at a terminal who does not want to wait any longer. None is lost,
 * and a SIGHUP meanwhile changes nothing about stopping. */
struct daemon_signals_listener {
	void *userdata;
	void (*stop)(void *userdata, int signal, bool again, bool hurry);
	void (*reload)(void *userdata); /* SIGHUP; not called any more once stop was */
};
struct daemon_signals;
int daemon_signals_new(sd_event *event, const struct daemon_signals_listener *listener,
		       struct daemon_signals **ret);
struct daemon_signals *daemon_signals_free(struct daemon_signals *s);

/* sd_event_loop(), but for its end where a turn fails: what supd supervises goes on, and what
 * happened meanwhile is found the next time. Gives up after half a minute in which each has failed.
 * The exit code, or a negative errno. */
int daemon_loop(sd_event *event);

/* Tells systemd (READY=1, STOPPING=1, STATUS=); nothing happens without $NOTIFY_SOCKET. */
void daemon_tell_state(enum supd_manager_state state);
void daemon_tell_status(const char *sentence);
/* Pings systemd's watchdog, if it wants to be. */
int daemon_watchdog(sd_event *event);

#endif
