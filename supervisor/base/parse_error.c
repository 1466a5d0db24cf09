/* SPDX-License-Identifier: MIT */
#include "base/parse_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int parse_error_at(struct parse_error *reterr, unsigned column, const char *fmt, ...)
{
	va_list args;

	if (!reterr)
		return -EBADMSG;
	reterr->column = column;
	va_start(args, fmt);
	(void) vsnprintf(reterr->sentence, sizeof(reterr->sentence), fmt, args);
	va_end(args);
	return -EBADMSG;
}
