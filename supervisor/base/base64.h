/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_BASE64_H
#define SUPD_BASE_BASE64_H

/* Base64 as RFC 4648 has it, section 4. */

#include <stddef.h>

/* Gives; the caller frees. NULL when memory ran out. */
char *base64_encode(const void *bytes, size_t n);

/* Blanks between the digits are passed over; a NUL that is not counted follows the bytes. Gives;
 * the caller frees. 0, -ENOMEM, or -EINVAL: a character that is no digit, or padding that is
 * missing or in the wrong place. */
int base64_decode(const char *text, void **ret, size_t *ret_n);

#endif
