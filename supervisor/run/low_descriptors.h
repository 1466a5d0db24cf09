/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_LOW_DESCRIPTORS_H
#define SUPD_RUN_LOW_DESCRIPTORS_H

/* Descriptors of low numbers, kept free for what a child is to be handed. A child that leaves our
 * table of descriptors copies it up to the highest that it needs: with these a start costs the same
 * however many runs hold descriptors. */

/* A child's streams. */
#define LOW_DESCRIPTORS 3

/* Keeps some, while numbers are low. Once, before others ask. */
void low_descriptors_prepare(void);
/* Puts copies of @fd there and changes @fd to their numbers. Returns what is to be given back, or
 * -1: @fd is as it was, for it is low enough, or no set is free. Any thread. */
int low_descriptors_take(int fd[LOW_DESCRIPTORS]);
void low_descriptors_give(int set);

#endif
