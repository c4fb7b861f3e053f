/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What tests of payload triggers have in common: an order that is an event, a session with a log
 * file whose payloads are looked at, and a flight recorder that they ask.
 */
#ifndef ETWAS_TESTS_FILE_PAYLOAD_FIXTURE_H
#define ETWAS_TESTS_FILE_PAYLOAD_FIXTURE_H

#include <etwas/evntcons.h>
#include <etwas/recorder.h>
#include <etwas/tdh.h>

#include "support/folder.h"
#include "support/start.h"

enum {
    LONG_MS = 3600000, /* no test waits for it */
    ORDER_TYPE = 7,
    ORDER_VERSION = 2,
};

extern const etwas_guid order_class;

/* An order as it lies in a payload, and what its fields are. */
struct order {
    uint32_t items;
    int16_t change;
    char customer[8];
    uint64_t took_us;
} __attribute__((packed));

extern const struct order usual;
extern const struct order slow;

/* The order took longer than 500 us: slow, not usual. */
extern const etwas_payload_predicate is_slow;

etwas_payload_filter order_filter(const etwas_payload_predicate *predicates, uint32_t count);

etwas_trace_handle start_recorder(void);
etwas_trace_handle start_log(uint32_t clock);

/* Its files are window1.etl and so on. */
void arm(etwas_trace_handle session, const etwas_trigger_options *options);

etwas_trigger_counts ask(etwas_trace_handle recorder);
etwas_payload_counts ask_log(etwas_trace_handle log);
void wait_until_seen(etwas_trace_handle recorder);

void watch(etwas_trace_handle log, etwas_trace_handle recorder, const etwas_payload_filter *filter);

void log_bytes(etwas_trace_handle session, uint8_t type, uint16_t version, const void *payload,
               size_t bytes);
void log_order(etwas_trace_handle session, const struct order *order);

/* What comes of one order. */
etwas_payload_counts judge_order(etwas_trace_handle log, const struct order *order);

#endif
