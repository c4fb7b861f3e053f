/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Of an appended file, whose sessions lie one behind the other, which of these a place is in. */
#ifndef ETWAS_READER_APPENDED_H
#define ETWAS_READER_APPENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_trace;

struct etwas_appended {
    uint64_t *begins;    /* of each session, where its first buffer is; free() */
    size_t count;        /* 0: it is one session's file */
    uint64_t file_bytes; /* the file was so long when it was looked through */
};

/*
 * Looks a file through that sessions may have been appended to, unless that was done and it has not grown since. False: no
 * memory.
 */
bool etwas_appended_find(struct etwas_trace *trace);

uint32_t etwas_appended_session(const struct etwas_trace *trace, uint64_t offset);

#endif
