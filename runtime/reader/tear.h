/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A circular file that nobody finished may hold a buffer that was being replaced: its beginning is
 * new and the rest is of the buffer before, or, after a crash of the system, any mix of sectors.
 * Such a buffer is looked through before its records are delivered, and ends where it tears. While
 * its session runs, a buffer may also be replaced while it is read.
 */
#ifndef ETWAS_READER_TEAR_H
#define ETWAS_READER_TEAR_H

#include "reader/stream.h"

/*
 * Looks through the buffer that `stream` is about to read. Sets stream->limit and stream->torn if
 * it tears, stream->replaced if it is not the buffer of the index any more.
 */
void etwas_tear_find(struct etwas_stream *stream);

/* Is the buffer still the one of the index? To be asked after reading from it. */
bool etwas_tear_is_same_buffer(const struct etwas_stream *stream);

#endif
