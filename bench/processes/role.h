/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processes of these benchmarks. Each is a fork of the first one, which never calls the
 * library, so that each is like a fresh program. A process handles one request after the other, and
 * ends with the first one.
 */
#ifndef ETWAS_BENCH_PROCESSES_ROLE_H
#define ETWAS_BENCH_PROCESSES_ROLE_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rows_json.h"

struct bench_request {
    uint32_t what; /* defined by each role */
    uint64_t numbers[3];
};

struct bench_answer {
    bool is_done;
    uint64_t numbers[2];
};

struct bench_role {
    pid_t process;
    int channel;
};

/*
 * Starts a process in which `play` answers the requests. Returns false if there are no more
 * processes.
 */
bool bench_role_start(struct bench_role *role,
                      struct bench_answer (*play)(const struct bench_request *request));

/* bench_role_ask in two steps, so that two processes work at the same time. */
bool bench_role_tell(const struct bench_role *role, const struct bench_request *request);
struct bench_answer bench_role_hear(const struct bench_role *role);

struct bench_answer bench_role_ask(const struct bench_role *role,
                                   const struct bench_request *request);
void bench_role_end(struct bench_role *role);

uint64_t bench_monotonic_ns(void);

/*
 * The three kinds of rows. Each function prints its rows and returns whether one failed.
 * ETWAS_RUNTIME_DIR is a folder of this run, and ETWAS_SHARED permits sharing.
 */
bool bench_processes_calls(const struct bench_part_options *options);
bool bench_processes_enabling(const struct bench_part_options *options);
bool bench_processes_registering(const struct bench_part_options *options);

#endif
