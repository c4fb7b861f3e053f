/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_COMPRESSION_H
#define ETWAS_COMPRESSION_H

/*
 * How buffers of log files are compressed: a part of <etwas/etwas.h>. A session with EVENT_TRACE_COMPRESSED_MODE does it
 * by itself; this is for programs that write such files.
 */

#include <etwas/types.h>

#include <stdint.h>

ETWAS_BEGIN_DECLS

/* What etwas_compress needs to work with, aligned as malloc aligns. What is in it means nothing before or after. */
#define ETWAS_COMPRESSION_MEMORY_BYTES 16384

/*
 * Compresses `byte_count` bytes (16 MiB at most), the records of one buffer, as "plain LZ77" of MS-XCA: what stands behind
 * the header of a buffer with the flag 0x0040 (docs/file-format.md). Returns how many bytes were made in `compressed`, or
 * 0: they and 32 more do not fit into `room`. A buffer that does not get smaller is stored as it is, without the
 * flag, so `room` is best `byte_count`. The ranges must not overlap. May be called from several threads and from handlers of
 * signals, each with its own `memory` of ETWAS_COMPRESSION_MEMORY_BYTES.
 */
uint32_t etwas_compress(const void *bytes, uint32_t byte_count, void *compressed, uint32_t room,
                        void *memory) ETWAS_API(etwas_compress);

ETWAS_END_DECLS

#endif
