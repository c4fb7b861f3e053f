/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A flight recorder's pool on a machine with PROCESSORS processors, whichever this one is: one
 * thread logs on all of them, with stamps of its own, by the shared protocol. Link with
 * test_processors.
 */
#ifndef ETWAS_TEST_SUPPORT_PROCESSORS_H
#define ETWAS_TEST_SUPPORT_PROCESSORS_H

#include <stdint.h>

#include "buffer/pool.h"

enum {
    PROCESSORS = 16
};

/* `session` is its entry of the table; each has one pool at a time. */
struct etwas_pool *processors_open(uint32_t session, uint32_t buffer_bytes, uint32_t buffers);

/* An event of so many bytes, a multiple of 8. Fails the test unless it is recorded. */
void processors_log(const struct etwas_pool *pool, uint32_t processor, int64_t stamp,
                    uint32_t bytes);

/* The newest stamp of the processor that was overwritten; 0: none was. */
int64_t processors_lost(const struct etwas_pool *pool, uint32_t processor);

/* How many buffers have events of it. */
uint32_t processors_held(const struct etwas_pool *pool, uint32_t processor);

void processors_close(struct etwas_pool *pool);

#endif
