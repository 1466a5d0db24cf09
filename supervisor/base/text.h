/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_TEXT_H
#define SUPD_BASE_TEXT_H

/* Text that came from outside: is it UTF-8, how is it shown safely, what did they mean. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offset of the first byte that is not valid UTF-8 (no surrogates, no overlong forms), or @n. */
size_t text_utf8_valid(const char *s, size_t n);

/* @s with control characters (C0, DEL, C1), invalid UTF-8 and backslashes as \n \t \\ \xNN; safe
 * for a terminal and for one line of a log. Gives; the caller frees. NULL when memory ran out. */
char *text_escape(const char *s, size_t n);
/* The same, but backslashes stay: for sentences of which parts are escaped already. */
char *text_printable(const char *s);
/* text_escape() into a buffer, cut with "…" where it does not fit; returns @buf. For messages. */
char *text_escape_to(char *buf, size_t size, const char *s);

/* The candidate nearest to @word (edit distance with transposition, case ignored), or NULL if none
 * is near enough to be what was meant. next(userdata, i) yields candidates until NULL. */
const char *text_suggest(const char *word, const char *(*next)(void *userdata, size_t i),
			 void *userdata);

/* 32 lower-case hex digits and NUL. */
void text_hex16(const uint8_t id[16], char ret[33]);
bool text_unhex16(const char *s, uint8_t ret[16]);

/* FNV-1a, 64 bits; start with TEXT_HASH_INIT, chain by passing the result. */
#define TEXT_HASH_INIT UINT64_C(0xcbf29ce484222325)
uint64_t text_hash(uint64_t hash, const void *bytes, size_t n);

#endif
