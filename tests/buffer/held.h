/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * One writer held at a test point of the shared protocol while everybody else goes on. All run on
 * one processor, so that they share its slot.
 */
#ifndef ETWAS_TESTS_BUFFER_HELD_H
#define ETWAS_TESTS_BUFFER_HELD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "flush/drain.h"
#include "support/folder.h"
#include "support/hold.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    AFTER = 5,
    LATER = 100,
    POINTS = 11,
    WAYS = 2
};

/* Timeouts. */
#define NEVER_NS (UINT64_C(3600) * 1000000000)
#define SOON_NS (UINT64_C(20) * 1000000)

/* All that a writer of any session comes to. */
extern const enum etwas_testpoint held_points[POINTS];

/*
 * Events the held thread logs before the one it is held in: that is number 10, TraceEvent, which
 * goes the general way, or number 13, an instance event that goes the quick way (writer.h).
 */
extern const uint32_t held_befores[WAYS];

struct held {
    enum etwas_testpoint point;
    uint32_t before;
    struct writer *writer;
    pthread_t thread;
    uint64_t last; /* the number of the event during which it is held */
    uint32_t last_code;
    uint32_t then; /* events to log once it goes on */
};

bool is_on_slow_path(enum etwas_testpoint point);
bool has_reserved(enum etwas_testpoint point);

/* A writer of at most 1,000 events. */
struct writer *short_writer(etwas_trace_handle session);

/* Starts the thread and waits until it is held. */
void hold_one(struct held *held, etwas_trace_handle session, enum etwas_testpoint point,
              uint32_t before);
void let_go(struct held *held);

int held_setup(void **state);
int held_teardown(void **state);

#define HOLD_TEST(test) cmocka_unit_test_setup_teardown(test, held_setup, held_teardown)

#endif
