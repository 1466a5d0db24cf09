/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_STATS_H
#define SUPD_CLI_STATS_H

/* supctl stats: what runs and misses come to, for people, as JSON, or for a scraper. */

struct cli;

int cli_stats(struct cli *c, int argc, char **argv);

#endif
