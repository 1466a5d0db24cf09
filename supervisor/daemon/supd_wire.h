/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_WIRE_H
#define SUPD_SUPD_WIRE_H

/* Who hears of what: the world's events go to the manager, the manager's news to the log and to
 * those who wait. */

struct manager;
struct manager_observer;
struct supd_control;
struct world_events;

/* Must outlive the world and the manager. */
struct supd_wire {
	struct manager *manager;
	struct supd_control *control;
};

/* Fill the callbacks of the world and of the manager, with @w as their userdata. */
void supd_wire_events(struct supd_wire *w, struct world_events *ret);
void supd_wire_observer(struct supd_wire *w, struct manager_observer *ret);

#endif
