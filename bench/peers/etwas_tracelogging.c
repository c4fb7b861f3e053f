/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* etwas: TraceLoggingWrite. Each event carries the names that LTTng's trace contains once. */
#include <etwas/TraceLoggingProvider.h>

#include "etwas_session.h"
#include "peer.h"

TRACELOGGING_DEFINE_PROVIDER(described, "Etwas.Peers",
                             (0xe3b85d10, 0x7c49, 0x46af, 0x8a, 0xd3, 0x19, 0x64, 0xf2, 0x0b, 0x5c,
                              0x97));

uint32_t etwas_peer_begin(etwas_trace_handle session)
{
    return TraceLoggingRegister(described) == S_OK
               ? EnableTrace(1, 0, TRACE_LEVEL_VERBOSE, &described->id, session)
               : (uint32_t)ERROR_NO_SYSTEM_RESOURCES;
}

void etwas_peer_end(void)
{
    TraceLoggingUnregister(described);
}

bool peer_producer_begin(void)
{
    return true;
}

void peer_settle(void)
{
}

static inline void log_u64_u32(uint64_t first, uint32_t second)
{
    TraceLoggingWrite(described, "Event", TraceLoggingUInt64(first), TraceLoggingUInt32(second));
}

static inline void log_blob64(const uint8_t *blob)
{
    TraceLoggingWrite(described, "Blob", TraceLoggingUInt8FixedArray(blob, PEER_BLOB_BYTES));
}

PEER_LOOPS(log_u64_u32, log_blob64)
