/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_PROVIDER_H
#define ETWAS_TOOLS_STEER_PROVIDER_H

/*
 * Providers as the command line names them. The text is a GUID, the name of a system provider, or
 * the name that a running program has given to one of its own. It may also be a name from which the
 * GUID is made, or a pattern (with `*` and `?`). A pattern covers providers that are registered now
 * or later.
 */

#include "steer/filters.h"
#include "steer/session.h"

#include <etwas/evntrace.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_ANY_LEVEL = 255,   /* default: every event, classic providers' too */
    ETWAS_STEER_PATIENCE_MS = 1000 /* time for providers to learn that they are enabled */
};

/* A provider, and which of its events a session records. */
struct etwas_steer_provider {
    const char *text;  /* as on the command line */
    uint64_t keywords; /* 0: all */
    uint8_t level;
};

/*
 * Returns the GUID of a provider from its text alone. Returns false if the text is empty, or a
 * malformed GUID.
 */
bool etwas_steer_guid(const char *text, etwas_guid *guid);

/* What a provider's text denotes. */
struct etwas_steer_target {
    etwas_guid guid;
    /* Name or pattern, if the request is for every provider with a matching name; else NULL. */
    const char *name;
    bool is_pattern;
};

/*
 * Finds what a text denotes; call etwas_steer_take_part before. A name denotes the registered
 * provider of that name. Otherwise it denotes those registered later, and the GUID is made from it;
 * unless `will_come`, that is noted on standard error. Returns false if the text is not valid, or
 * after a message there if two providers have the name.
 */
bool etwas_steer_find_provider(const char *command, const char *text, bool will_come,
                               struct etwas_steer_target *target);

enum {
    ETWAS_STEER_PROVIDER_BYTES = 257
};

/*
 * Returns the name of a system provider, or the name, any text, that another provider reports.
 * Otherwise returns false, and `name` is empty.
 */
bool etwas_steer_provider_name(const etwas_guid *guid, char name[ETWAS_STEER_PROVIDER_BYTES]);

enum {
    ETWAS_STEER_LOGGER_ID = 0xFF /* the part of a handle in TRACE_ENABLE_INFO */
};

/*
 * Returns an answer of EnumerateTraceGuidsEx of any size, or NULL, with the code in *code. If an
 * answer comes with an error, it lacks what could not be read.
 */
void *etwas_steer_enumerate(TRACE_QUERY_INFO_CLASS class, etwas_guid *guid, uint32_t *bytes,
                            uint32_t *code);

/*
 * Whether a process has registered the provider, whether the session enables it, and whether it is
 * a classic one.
 */
struct etwas_steer_standing {
    bool is_registered;
    bool is_enabled;
    bool is_classic;
};

/* Returns false if the registrations could not be read. */
bool etwas_steer_find_folder(const etwas_guid *provider, TRACEHANDLE session,
                             struct etwas_steer_standing *standing);

/*
 * Notes on standard error if the provider that a GUID names is neither registered nor a system
 * provider. For a name, etwas_steer_find_provider has noted it.
 */
void etwas_steer_report_unregistered(const char *command, const char *text, const etwas_guid *guid);

/*
 * Reads a level: a number up to 255, or critical, error, warning, information, verbose, in any
 * case.
 */
bool etwas_steer_level(const char *text, uint8_t *level);

/* What a level should be; follows "is not" in messages. */
#define ETWAS_STEER_A_LEVEL                                                                        \
    "a level: critical, error, warning, information, verbose, or a number up to 255"

/*
 * Reads PROVIDER[:KEYWORDS[:LEVEL]]; keeps a pointer to the text. Returns false if a part is not
 * valid.
 */
bool etwas_steer_parse_provider(const char *text, struct etwas_steer_provider *provider);

/*
 * Does the same with an option's value. Returns false after a message on standard error that names
 * the part.
 */
bool etwas_steer_read_provider(const struct etwas_option_use *use,
                               struct etwas_steer_provider *provider);

/* The arguments of an EnableTraceEx2. */
struct etwas_steer_request {
    uint32_t control_code;
    uint8_t level;
    uint64_t any;
    uint64_t all;
    uint32_t property;
    uint32_t timeout_ms;
    bool may_be_late; /* do not report that callbacks have not returned in time */
    bool will_come;   /* do not note that no process has registered it: a program will be started */
    const struct etwas_steer_filters *filters; /* NULL: none */
};

/* Calls EnableTraceEx2, and returns its code. */
uint32_t etwas_steer_request(TRACEHANDLE session, const struct etwas_steer_target *target,
                             const struct etwas_steer_request *request);

/*
 * Enables the provider. Returns false after a message on standard error. Also notes there what has
 * no effect.
 */
bool etwas_steer_enable_target(const char *command, TRACEHANDLE session, const char *text,
                               const struct etwas_steer_target *target,
                               const struct etwas_steer_request *request);

/*
 * Finds the provider, and enables it in the session; `filters` may be NULL. Returns false likewise.
 */
bool etwas_steer_enable(const char *command, TRACEHANDLE session,
                        const struct etwas_steer_provider *provider,
                        const struct etwas_steer_filters *filters, bool will_come);

/* Copies the provider's name, pattern or GUID. */
void etwas_steer_provider_text(const struct etwas_steer_provider *provider,
                               char name[ETWAS_STEER_NAME_BYTES]);

#endif
