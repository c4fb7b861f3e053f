/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SESSION_H
#define ETWAS_TOOLS_STEER_SESSION_H

/*
 * Sessions by their names, of this process and of others: what is asked of them, and what is said
 * when they refuse.
 */

#include "print/output.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_NAME_UNITS = 1024,                           /* of UTF-16 */
    ETWAS_STEER_NAME_BYTES = 3 * ETWAS_STEER_NAME_UNITS + 1, /* in UTF-8, with the 0 */
};

/* What ControlTrace takes: the structure, and room for both names. */
struct etwas_steer_block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[ETWAS_STEER_NAME_BYTES];
    char file_name[ETWAS_STEER_NAME_BYTES];
};

/* An empty one. */
void etwas_steer_prepare(struct etwas_steer_block *block);

/*
 * From here on the sessions of other processes are seen. False after a message on standard error.
 * `command` is "etwas stop" or another.
 */
bool etwas_steer_take_part(const char *command);

/* The same for a command that starts nothing: it makes no folder that ETWAS_RUNTIME_DIR names. */
bool etwas_steer_look(const char *command);

/* How many runtime folders of this user there are that processes may be in. */
uint32_t etwas_steer_count_folders(void);

/* ControlTrace by the session's name. */
uint32_t etwas_steer_ask(const char *name, struct etwas_steer_block *block, uint32_t control_code);

/*
 * Asks the session for something; the block has its values then. False likewise.
 */
bool etwas_steer_control(const char *command, const char *name, struct etwas_steer_block *block,
                         uint32_t control_code);

/*
 * Returns what an answer is about: the file that the session was told of, which may be empty, or
 * the session.
 */
const char *etwas_steer_subject(uint32_t code, const char *name, const char *file_name);

/* What is said of an answer of these. False: it is no success, and was said on standard error. */
bool etwas_steer_judge(const char *command, const char *name, uint32_t code);

/* A file's name from the root on, since hosts work elsewhere. False likewise. */
bool etwas_steer_name_file(const char *command, const char *path,
                           char file_name[ETWAS_STEER_NAME_BYTES]);

/*
 * Returns why this process lacks something that the system gives, as a part of a sentence; NULL if
 * it may open enough files.
 */
const char *etwas_steer_shortage(void);

/* Why something was refused, as a part of a sentence. */
const char *etwas_steer_reason(uint32_t code);

/* The same of a code of EnableTraceEx2 that was to enable a provider. */
const char *etwas_steer_enable_reason(uint32_t code);

/*
 * Why other processes do not log into a session, by its counts, as a part of a sentence; NULL: they
 * do, or are not meant to.
 */
const char *etwas_steer_unshared_reason(const etwas_session_counts *counts);

/* The same as a word for programs. */
const char *etwas_steer_unshared_word(const etwas_session_counts *counts);

/* Prints how many processes cannot log into a session with an unattached_code, and why. */
void etwas_steer_put_unattached(struct etwas_output *output, const etwas_session_counts *counts);

/* "etwas stop: 'name': reason" on standard error. What could steer a terminal is escaped. */
void etwas_steer_complain(const char *command, const char *name, const char *reason);

#endif
