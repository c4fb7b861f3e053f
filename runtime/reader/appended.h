/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sessions of an appended file, which lie one behind the other: which of them a place belongs
 * to.
 */
#ifndef ETWAS_READER_APPENDED_H
#define ETWAS_READER_APPENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_trace;

struct etwas_appended {
    uint64_t *begins;    /* file offset of each session's first buffer; freed with free() */
    size_t count;        /* 0: the file has one session */
    uint64_t file_bytes; /* length of the file when it was scanned */
};

/*
 * Scans a file that sessions may have been appended to, unless it was scanned and has not grown
 * since. Returns false without memory.
 */
bool etwas_appended_find(struct etwas_trace *trace);

uint32_t etwas_appended_session(const struct etwas_trace *trace, uint64_t offset);

#endif
