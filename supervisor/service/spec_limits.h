/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_SPEC_LIMITS_H
#define SUPD_SERVICE_SPEC_LIMITS_H

/* Inside service/: the parsers of the keys behind struct exec_limits. */

#include "base/keys.h"

/* Limit…=; row->parameter is the RLIMIT_…. */
int spec_parse_limit_number(const struct key_context *c);
int spec_parse_limit_size(const struct key_context *c);
int spec_parse_limit_seconds(const struct key_context *c);
int spec_parse_limit_usec(const struct key_context *c);
int spec_parse_limit_nice(const struct key_context *c);
int spec_parse_oom_score(const struct key_context *c);
int spec_parse_coredump_filter(const struct key_context *c);
int spec_parse_io_class(const struct key_context *c);
int spec_parse_io_priority(const struct key_context *c);
int spec_parse_scheduler(const struct key_context *c);
int spec_parse_scheduler_priority(const struct key_context *c);
int spec_parse_scheduler_reset(const struct key_context *c);
int spec_parse_cpus(const struct key_context *c);
int spec_parse_numa_policy(const struct key_context *c);
int spec_parse_numa_nodes(const struct key_context *c);
int spec_parse_timer_slack(const struct key_context *c);
int spec_parse_personality(const struct key_context *c);

#endif
