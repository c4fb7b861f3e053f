/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finding the knots of a file: in buffer 0, and in the data buffers that begin with one. A file of
 * another system has none and is not looked through.
 */
#ifndef ETWAS_READER_KNOTS_H
#define ETWAS_READER_KNOTS_H

#include "reader/timeline.h"
#include "reader/trace.h"

/*
 * The timeline of the file as it is now: one of a running session grows. One reading of 168 bytes
 * for each buffer. NULL without memory. What cannot be read has no knots; it is no damage here.
 */
struct etwas_timeline *etwas_knots_read(struct etwas_trace *trace);

#endif
