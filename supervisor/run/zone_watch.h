/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_ZONE_WATCH_H
#define SUPD_RUN_ZONE_WATCH_H

/* Tells when the local time zone may have changed: the link /etc/localtime was moved, or a file on
 * the way from it (or from what $TZ names) to the zone's data was replaced or written. Folders are
 * watched, not files, so that a file that is replaced, or comes only later, is seen too. */

#include <systemd/sd-event.h>

struct zone_watch;

typedef void zone_watch_fn(void *userdata);

/* @tz: the daemon's $TZ, NULL: not set; @localtime: NULL: /etc/localtime. Copies both. */
int zone_watch_new(sd_event *event, const char *tz, const char *localtime, zone_watch_fn *fn,
		   void *userdata, struct zone_watch **ret);
struct zone_watch *zone_watch_free(struct zone_watch *w);

#endif
