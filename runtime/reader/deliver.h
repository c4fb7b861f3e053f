/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A record on disk as the structures that callbacks get. */
#ifndef ETWAS_READER_DELIVER_H
#define ETWAS_READER_DELIVER_H

#include "reader/stream.h"

/* Gives the stream's record, of this time, to the trace's event callback. */
void etwas_deliver(struct etwas_stream *stream, int64_t filetime);

#endif
