/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_RUNNING_H
#define ETWAS_TOOLS_STEER_RUNNING_H

/* What is running: the sessions of all processes of the user, and the providers in them. */

#include "print/output.h"
#include "steer/provider.h"
#include "steer/session.h"

#include <etwas/etwas.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_PROGRAM_BYTES = 256
};

struct etwas_steer_found_session {
    struct etwas_steer_block block;
    uint32_t process; /* whose it is; 0: that cannot be told */
    char program[ETWAS_STEER_PROGRAM_BYTES];
    const char *folder; /* as below */
    /* Its host does not answer: the block has its name, GUID, mode and clock alone. */
    bool is_silent;
    bool is_pool_removed; /* the file with the buffers of this crash-safe session is gone */
    bool has_counts;      /* else the block knows no more than what was lost */
    etwas_session_counts counts;
    bool has_retention; /* of a flight recorder */
    etwas_retention retention;
};

/* A registration of a provider, and the sessions that enable it. */
struct etwas_steer_found_provider {
    etwas_guid guid;
    char name[ETWAS_STEER_PROVIDER_BYTES]; /* as etwas_steer_provider_name; empty: none */
    uint32_t process; /* 0: it is enabled and not registered yet, or the system's */
    /* The runtime folder; NULL: it is not known, or all that is found is in this command's own. */
    const char *folder;
    bool is_classic;
    uint32_t enabling; /* how many of enables[] */
    const TRACE_ENABLE_INFO *enables;
};

struct etwas_steer_found {
    struct etwas_steer_found_session *sessions;
    uint32_t session_count;
    struct etwas_steer_found_provider *providers; /* by process, then by GUID */
    uint32_t provider_count;
    void **answers; /* what `enables` points into */
    size_t answer_count;
    bool is_partial;  /* there may be more sessions or providers, which could not be read */
    bool has_folders; /* something is in another runtime folder than this command's own */
};

/* Finds one session. Returns false after a message on standard error. */
bool etwas_steer_find_session(const char *command, const char *name,
                              struct etwas_steer_found_session *session);

/*
 * Says on standard error why a session refused something: "etwas stop: 'name': reason". If there is
 * none of that name, it names the one that may be meant.
 */
void etwas_steer_refuse(const char *command, const char *name, uint32_t code);

/* Finds one session without any message; only ASCII letters are compared without regard to case. */
bool etwas_steer_find_session_quietly(const char *name, struct etwas_steer_found_session *session);

/*
 * Finds all sessions and providers, which the caller frees with etwas_steer_found_free. Returns
 * false after a message on standard error, and also prints one with is_partial.
 */
bool etwas_steer_find_running(const char *command, struct etwas_steer_found *found);
void etwas_steer_found_free(struct etwas_steer_found *found);

/* Returns the session that a TRACE_ENABLE_INFO is about; NULL if it is none of those found. */
const struct etwas_steer_found_session *etwas_steer_session_of(
    const struct etwas_steer_found *found, const TRACE_ENABLE_INFO *enable);

/*
 * Prints the options that choose processes and events of a provider in a session: "--pid, --event".
 * False: there is none, and nothing is printed.
 */
bool etwas_steer_put_filters(struct etwas_output *output, const char *lead,
                             const TRACE_ENABLE_INFO *enable);

/* Why a process does not log to a session that enables its provider (TRACE_ENABLE_INFO). */
enum etwas_steer_cannot {
    ETWAS_STEER_CANNOT_SHARE,  /* no other process logs to the session */
    ETWAS_STEER_CANNOT_ATTACH, /* as the session's counts say of the last */
    ETWAS_STEER_CANNOT_READ,   /* the session is of another release */
};

/* `session`: NULL if it is not known. */
enum etwas_steer_cannot etwas_steer_cannot(const struct etwas_steer_found_session *session);

/* Finds the name of a process's program file, without its folder; "" if that cannot be told. */
void etwas_steer_program(uint32_t process, char program[ETWAS_STEER_PROGRAM_BYTES]);

#endif
