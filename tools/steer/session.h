/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SESSION_H
#define ETWAS_TOOLS_STEER_SESSION_H

/*
 * Sessions by name, of this and other processes: requests to them, and messages when they refuse.
 */

#include "print/output.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_NAME_UNITS = 1024,                           /* UTF-16 units */
    ETWAS_STEER_NAME_BYTES = 3 * ETWAS_STEER_NAME_UNITS + 1, /* in UTF-8, with the terminating 0 */
};

/* The argument of ControlTrace: the structure, and room for both names. */
struct etwas_steer_block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[ETWAS_STEER_NAME_BYTES];
    char file_name[ETWAS_STEER_NAME_BYTES];
};

/* Makes an empty block. */
void etwas_steer_prepare(struct etwas_steer_block *block);

/*
 * Makes the sessions of other processes visible to this one. Returns false after a message on
 * standard error. `command` is such as "etwas stop".
 */
bool etwas_steer_take_part(const char *command);

/*
 * Does the same for a command that starts nothing: it does not create the folder in
 * ETWAS_RUNTIME_DIR.
 */
bool etwas_steer_look(const char *command);

/* Returns the number of this user's runtime folders, in which processes may be. */
uint32_t etwas_steer_count_folders(void);

/* Calls ControlTrace with the session's name. */
uint32_t etwas_steer_ask(const char *name, struct etwas_steer_block *block, uint32_t control_code);

/*
 * Sends the session a request; on return the block has its values. Returns false after a message on
 * standard error.
 */
bool etwas_steer_control(const char *command, const char *name, struct etwas_steer_block *block,
                         uint32_t control_code);

/*
 * Returns what an error is about: the file given to the session, if there is one, or the session.
 */
const char *etwas_steer_subject(uint32_t code, const char *name, const char *file_name);

/*
 * Reports the code of a request on standard error, if it is not success. Returns false if the
 * request failed.
 */
bool etwas_steer_judge(const char *command, const char *name, uint32_t code);

/*
 * Makes a file's path absolute, since hosts run in another folder. Returns false after a message.
 */
bool etwas_steer_name_file(const char *command, const char *path,
                           char file_name[ETWAS_STEER_NAME_BYTES]);

/*
 * Returns which system limit this process has reached, as part of a sentence; NULL if it may open
 * enough files.
 */
const char *etwas_steer_shortage(void);

/* Returns why a request was refused, as part of a sentence. */
const char *etwas_steer_reason(uint32_t code);

/* Does the same for a code of an EnableTraceEx2 that enables a provider. */
const char *etwas_steer_enable_reason(uint32_t code);

/*
 * Returns why other processes do not log into a session, from its counts, as part of a sentence;
 * NULL if they do, or should not.
 */
const char *etwas_steer_unshared_reason(const etwas_session_counts *counts);

/* Returns the same as a word for programs. */
const char *etwas_steer_unshared_word(const etwas_session_counts *counts);

/* Prints how many processes cannot log into a session whose unattached_code is set, and why. */
void etwas_steer_put_unattached(struct etwas_output *output, const etwas_session_counts *counts);

/* Prints "etwas stop: 'name': reason" on standard error. Control characters are escaped. */
void etwas_steer_complain(const char *command, const char *name, const char *reason);

#endif
