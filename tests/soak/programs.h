/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The soak of several programs: what they tell each other, in memory that all of them share, and
 * what a program is: a host, a provider or a controller. Each of them takes part with ETWAS_SHARED,
 * and may be killed or stopped at any moment.
 */
#ifndef ETWAS_SOAK_PROGRAMS_H
#define ETWAS_SOAK_PROGRAMS_H

#include "soak.h"

enum {
    SOAK_PROGRAMS = 10,     /* at one time */
    SOAK_SESSIONS = 100000, /* of a run */
    SOAK_FOLDER_BYTES = 64,
};

/* What became of a session's events: as its providers were told, and as it says. */
struct soak_account {
    uint32_t recorded;
    uint32_t lost;
    uint32_t killed;    /* so many providers were killed in a call that may have been for it */
    uint32_t has_ended; /* its host has stopped it, and taken its counts */
    uint64_t recorded_by_count;
    uint64_t lost_by_count;
};

struct soak_board {
    uint32_t end;
    uint32_t faults;
    uint32_t sessions; /* numbers given */
    uint32_t calling
        [SOAK_PROGRAMS]; /* the number of the session that the program's call is for; 0: in none */
    uint32_t hosting[SOAK_PROGRAMS]; /* the session whose file the host writes; 0: none */
    struct soak_account accounts[SOAK_SESSIONS];
};

extern struct soak_board *soak_board;
extern char soak_folder[SOAK_FOLDER_BYTES]; /* for files; the runtime folder is in it */
extern bool soak_is_full; /* writing there fails now and then: recorded events may be lost later */

/* What a program does until soak_board->end; returns its exit code. */
int soak_host(uint32_t program, struct soak_random *random);
int soak_provider(uint32_t program, struct soak_random *random);
int soak_controller(uint32_t program, struct soak_random *random);

#endif
