/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_PROVIDER_H
#define ETWAS_TOOLS_STEER_PROVIDER_H

/*
 * Providers as the command line names them: by a GUID, by the name of a system provider, by what a
 * program that runs calls one of its own, by a name of which the GUID is made, or by a pattern
 * (with `*` and `?`) of names of providers that are registered now or later.
 */

#include "steer/filters.h"
#include "steer/session.h"

#include <etwas/evntrace.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_ANY_LEVEL = 255,   /* unless stated: every event, of classic providers too */
    ETWAS_STEER_PATIENCE_MS = 1000 /* for providers to have heard that they are enabled */
};

/* Which of its events a session shall get. */
struct etwas_steer_provider {
    const char *text;  /* as the command line has it */
    uint64_t keywords; /* 0: all */
    uint8_t level;
};

/*
 * The GUID of a provider, by the text alone. False: it is empty, or meant to be a GUID and is none.
 */
bool etwas_steer_guid(const char *text, etwas_guid *guid);

/* What is asked for by a text that stands for a provider. */
struct etwas_steer_target {
    etwas_guid guid;
    /* Every provider of this name is meant too, a pattern, which is the text; NULL: none is. */
    const char *name;
    bool is_pattern;
};

/*
 * Finds what a text stands for, after etwas_steer_take_part. A name is that of the provider that
 * calls itself so, else of those that will, and the GUID is made of it, which is said on standard
 * error unless it `will_come`. False after a message there: two call themselves so.
 */
bool etwas_steer_find_provider(const char *command, const char *text, bool will_come,
                               struct etwas_steer_target *target);

enum {
    ETWAS_STEER_PROVIDER_BYTES = 257
};

/*
 * The name of a system provider, or what another says itself: any text. False: it has none, and
 * `name` is empty.
 */
bool etwas_steer_provider_name(const etwas_guid *guid, char name[ETWAS_STEER_PROVIDER_BYTES]);

enum {
    ETWAS_STEER_LOGGER_ID = 0xFF /* of a handle: what TRACE_ENABLE_INFO knows a session by */
};

/*
 * An answer of EnumerateTraceGuidsEx, however large; NULL with a code. Other codes: what could not
 * be read is not in it.
 */
void *etwas_steer_enumerate(TRACE_QUERY_INFO_CLASS class, etwas_guid *guid, uint32_t *bytes,
                            uint32_t *code);

/*
 * Has a process registered a provider, or has the system it? Does a session, by its handle, enable
 * it? And is it a classic one?
 */
struct etwas_steer_standing {
    bool is_registered;
    bool is_enabled;
    bool is_classic;
};

/* False: it cannot be told. */
bool etwas_steer_find_folder(const etwas_guid *provider, TRACEHANDLE session,
                             struct etwas_steer_standing *standing);

/*
 * A note on standard error if nobody has registered the provider that a GUID names, and the system
 * has none such. If the provider was given by name, etwas_steer_find_provider has said it.
 */
void etwas_steer_report_unregistered(const char *command, const char *text, const etwas_guid *guid);

/* A level: its number up to 255, or critical, error, warning, information, verbose, in any case. */
bool etwas_steer_level(const char *text, uint8_t *level);

/* What it should be, behind "is not". */
#define ETWAS_STEER_A_LEVEL                                                                        \
    "a level: critical, error, warning, information, verbose, or a number up to 255"

/* PROVIDER[:KEYWORDS[:LEVEL]], which is kept. False: some part is wrong. */
bool etwas_steer_parse_provider(const char *text, struct etwas_steer_provider *provider);

/* The same of an option's value. False after a message on standard error that names the part. */
bool etwas_steer_read_provider(const struct etwas_option_use *use,
                               struct etwas_steer_provider *provider);

/* An EnableTraceEx2. */
struct etwas_steer_request {
    uint32_t control_code;
    uint8_t level;
    uint64_t any;
    uint64_t all;
    uint32_t property;
    uint32_t timeout_ms;
    bool may_be_late; /* that callbacks have not returned in time is not said */
    bool will_come;   /* that nobody has registered it is not noted: a program is to be run */
    const struct etwas_steer_filters *filters; /* NULL: none */
};

/* Calls EnableTraceEx2, and returns its code. */
uint32_t etwas_steer_request(TRACEHANDLE session, const struct etwas_steer_target *target,
                             const struct etwas_steer_request *request);

/*
 * Enables it. False after a message on standard error; what is in vain, or not chosen as it was
 * asked for, is noted there.
 */
bool etwas_steer_enable_target(const char *command, TRACEHANDLE session, const char *text,
                               const struct etwas_steer_target *target,
                               const struct etwas_steer_request *request);

/* Finds the provider, and enables it in the session; `filters` may be NULL. False likewise. */
bool etwas_steer_enable(const char *command, TRACEHANDLE session,
                        const struct etwas_steer_provider *provider,
                        const struct etwas_steer_filters *filters, bool will_come);

/* Copies its name, pattern or GUID. */
void etwas_steer_provider_text(const struct etwas_steer_provider *provider,
                               char name[ETWAS_STEER_NAME_BYTES]);

#endif
