/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_RUNNING_H
#define ETWAS_TOOLS_STEER_RUNNING_H

/* What is running: all sessions of the user, and the providers in processes. */

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
    uint32_t process; /* its host; 0: not known */
    char program[ETWAS_STEER_PROGRAM_BYTES];
    const char *folder; /* its runtime folder, as for providers below */
    /* The host does not answer: the block has only name, GUID, mode and clock. */
    bool is_silent;
    bool is_pool_removed; /* the file with the buffers of this crash-safe session was removed */
    bool has_counts;      /* else the block has only the number of lost events */
    etwas_session_counts counts;
    bool has_retention; /* only for a flight recorder */
    etwas_retention retention;
};

/* A registration of a provider, and the sessions that enable it. */
struct etwas_steer_found_provider {
    etwas_guid guid;
    char name[ETWAS_STEER_PROVIDER_BYTES]; /* from etwas_steer_provider_name; empty: none */
    uint32_t process; /* 0: a system provider, or enabled but not registered yet */
    /* The runtime folder; NULL: not known, or everything found is in the folder of this command. */
    const char *folder;
    bool is_classic;
    uint32_t enabling; /* number of enables[] */
    const TRACE_ENABLE_INFO *enables;
};

struct etwas_steer_found {
    struct etwas_steer_found_session *sessions;
    uint32_t session_count;
    struct etwas_steer_found_provider *providers; /* sorted by process, then by GUID */
    uint32_t provider_count;
    void **answers; /* memory that `enables` points into */
    size_t answer_count;
    bool is_partial;  /* some sessions or providers could not be read */
    bool has_folders; /* something is in another runtime folder than this command's */
};

/* Finds one session. Returns false after a message on standard error. */
bool etwas_steer_find_session(const char *command, const char *name,
                              struct etwas_steer_found_session *session);

/*
 * Reports on standard error why a session refused a request: "etwas stop: 'name': reason". If there
 * is no session of that name, suggests a similar name.
 */
void etwas_steer_refuse(const char *command, const char *name, uint32_t code);

/*
 * Finds one session without printing a message. Names compare without case, for ASCII letters only.
 */
bool etwas_steer_find_session_quietly(const char *name, struct etwas_steer_found_session *session);

/*
 * Finds all sessions and providers; free them with etwas_steer_found_free. Returns false after a
 * message on standard error. If the result is partial, prints a message and returns true.
 */
bool etwas_steer_find_running(const char *command, struct etwas_steer_found *found);
void etwas_steer_found_free(struct etwas_steer_found *found);

/* Returns the session that a TRACE_ENABLE_INFO belongs to; NULL if it was not found. */
const struct etwas_steer_found_session *etwas_steer_session_of(
    const struct etwas_steer_found *found, const TRACE_ENABLE_INFO *enable);

/*
 * Prints `lead` and the options that filter a provider's processes and events in a session: "--pid,
 * --event". If there are none, returns false and prints nothing.
 */
bool etwas_steer_put_filters(struct etwas_output *output, const char *lead,
                             const TRACE_ENABLE_INFO *enable);

/* Why a process does not log to a session that enables its provider (TRACE_ENABLE_INFO). */
enum etwas_steer_cannot {
    ETWAS_STEER_CANNOT_SHARE,  /* no other process logs to the session */
    ETWAS_STEER_CANNOT_ATTACH, /* the last known reason is in the session's counts */
    ETWAS_STEER_CANNOT_READ,   /* the session belongs to another release */
};

/* `session`: NULL if not known. */
enum etwas_steer_cannot etwas_steer_cannot(const struct etwas_steer_found_session *session);

/* Finds the name of a process's program file, without its folder; "" if it is not known. */
void etwas_steer_program(uint32_t process, char program[ETWAS_STEER_PROGRAM_BYTES]);

#endif
