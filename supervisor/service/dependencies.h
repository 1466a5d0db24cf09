/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_DEPENDENCIES_H
#define SUPD_SERVICE_DEPENDENCIES_H

/* What a unit says of other units: whom it starts, waits for, goes with. systemd.unit(5) is the
 * model; what becomes of it is decided in core/graph.h and core/transaction.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dependency_kind {
	DEPENDENCY_REQUIRES,
	DEPENDENCY_REQUISITE,
	DEPENDENCY_BINDS_TO,
	DEPENDENCY_WANTS,
	DEPENDENCY_UPHOLDS,
	DEPENDENCY_PART_OF,
	DEPENDENCY_CONFLICTS,
	DEPENDENCY_BEFORE,
	DEPENDENCY_AFTER,
	DEPENDENCY_ON_SUCCESS,
	DEPENDENCY_ON_FAILURE,
	DEPENDENCY_PROPAGATES_STOP_TO,
	DEPENDENCY_STOP_PROPAGATED_FROM,
};
#define DEPENDENCY_KIND_COUNT (DEPENDENCY_STOP_PROPAGATED_FROM + 1)

/* On a service or a target; names of other kinds, which only systemd has, are taken as there and
 * left out. */
struct dependency {
	const char *unit;
	const char *file; /* where it stands; or NULL: in a .wants or .requires directory */
	uint32_t line;
	enum dependency_kind kind;
};

struct dependencies {
	const struct dependency *item;
	size_t n;
	bool has_defaults;         /* DefaultDependencies=: a target comes after its members */
	bool refuse_manual_start, refuse_manual_stop;
};

/* "Requires", "After" … */
const char *dependency_kind_to_string(enum dependency_kind k);

#endif
