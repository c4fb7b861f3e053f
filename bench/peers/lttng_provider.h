/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The tracepoint provider "etwas_peers" of LTTng-UST, with one event for each payload. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER etwas_peers

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

#if !defined(ETWAS_BENCH_PEERS_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ETWAS_BENCH_PEERS_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* The macros' arguments are not C. */
/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(etwas_peers, u64_u32,
    LTTNG_UST_TP_ARGS(uint64_t, first, uint32_t, second),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, first, first)
        lttng_ust_field_integer(uint32_t, second, second)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(etwas_peers, blob64,
    LTTNG_UST_TP_ARGS(const uint8_t *, blob),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_array(uint8_t, blob, blob, 64)
    )
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
