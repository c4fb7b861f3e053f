/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes that private sessions are meant for, each with a classic provider; the controller of
 * such a session, in a process of its own; and what is in the files that the processes have then.
 */
#ifndef ETWAS_TESTS_SHARING_MEMBERS_H
#define ETWAS_TESTS_SHARING_MEMBERS_H

#include "sharing/programs.h"

enum {
    MEMBERS = 3,
    LAST = 1000000, /* what a provider logs when it is disabled */
    PRIVATE_SESSIONS = 8,
};

/* What a member and a test tell each other. */
struct member {
    int32_t process;
    uint32_t may_register;
    uint32_t registered;
    uint32_t enabled_at_once; /* when registering it returned */
    uint32_t enabled;
    uint32_t disabled;
    uint32_t wanted; /* so many events */
    uint32_t logged;
    uint32_t is_full; /* it has all the private sessions that it may … */
    uint32_t may_have_room;
    uint32_t has_room; /* … and one less */
    uint32_t may_end;
};

/* In a file, so that other programs share it, too. */
extern struct member *members;

/* cmocka's, of a test; of a group they are those of programs.h. */
int members_begin(void **state);
int members_end(void **state);

#define MEMBERS_TEST(test) cmocka_unit_test_setup_teardown(test, members_begin, members_end)

/* ---- members --------------------------------------------------------------------------------- */

/*
 * Registers control_guid when it may, logs as many numbers as are wanted while it is enabled, and
 * stays until it shall end. A process that was never enabled has gained nothing by what the
 * controller did.
 */
int be_member(uint32_t index);

/* Waits until the member has written its process id. */
int start_member(uint32_t index);

/* Waits until it has registered, too. */
int start_registered(uint32_t index);

void end_member(int child, uint32_t index);

/* So many more, and waits for them. */
bool log_events(uint32_t index, uint32_t count);

/*
 * This program once more, from a copy at this path, as member 1; it has to call run_member in main.
 */
int run_as(const char *path);

/* Runs a member if main's arguments are those of one, and returns its exit code; otherwise -1. */
int run_member(int count, char **arguments);

/* ---- the controller -------------------------------------------------------------------------- */

extern etwas_trace_handle controlled; /* of this process: the session that start_private started */

/* The next start is for the first members so many, or for these programs. */
void filter_by_processes(uint32_t count);
void filter_by_programs(const char *names);

/* A block of a private session of control_guid with that filter. */
void prepare_private(struct block *block, const char *file, uint32_t mode);

uint32_t start_private(const char *name, const char *file, uint32_t mode);

/* control_guid, in the session that was started. */
uint32_t enable_members(uint8_t level);

/* R27: with the filter; `name` NULL: by the handle. */
uint32_t control_members(const char *name, const char *file, uint32_t code);

/* A controller's process, which runs this; returns when it has taken its first board->steps. */
int start_controller(int (*run)(void));

/* ---- files ----------------------------------------------------------------------------------- */

/* In the test's folder; valid until the next call. */
const char *file_of(const char *name, int32_t process);

bool has_file(const char *name, int32_t process);

/* The numbers from `first` on, and the one that is logged when the provider is disabled. */
void expect_events(const char *name, uint32_t index, uint32_t first, uint32_t count, bool has_last);

#endif
