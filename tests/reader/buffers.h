/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Runs etwas_trace_process_buffers on files; the events and damages are kept as those of
 * ProcessTrace are.
 */
#ifndef ETWAS_TESTS_READER_BUFFERS_H
#define ETWAS_TESTS_READER_BUFFERS_H

#include <etwas/etwas.h>

#include "collect.h"

/* A buffer as it was begun, and as it ended. */
struct given_buffer {
    etwas_trace_buffer begun;
    etwas_trace_buffer ended;
    bool has_ended;
    size_t events_before; /* how many events had come when it began */
};

struct given {
    struct given_buffer buffers[COLLECT_EVENTS];
    size_t count;
    uint64_t next; /* where the last one that ended does */
    uint32_t code;
};

/* What came since given_forget. */
extern struct given given;

void given_forget(void);

/* What the callbacks return; NULL: that they want all. */
extern uint32_t (*given_begin)(const etwas_trace_buffer *buffer);
extern uint32_t (*given_end)(const etwas_trace_buffer *buffer);

/* Adds what a trace that is open with the collecting callbacks has there. */
void give_more(etwas_trace_handle trace, uint64_t from, uint64_t until);

/* Empties both collections, opens the file, gives what it has there, and closes it. */
void run_buffers(const char *path, uint64_t from, uint64_t until);

/*
 * All of the file, against ProcessTrace: the same events and damages, once each, but for those in
 * buffer 0, and for what that tells of numbers, and of processors once only; buffer by buffer in
 * the order of their place. The collections are those of the buffers then. A file without an end
 * may give less: only what is whole.
 */
void compare_with_process_trace(const char *path, bool ended);

#endif
