/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_PROVIDER_H
#define ETWAS_TOOLS_STEER_PROVIDER_H

/*
 * Providers as the command line names them: by a GUID, by the name of a system provider, by what a
 * program that runs calls one of its own, or by a name of which the GUID is made.
 */

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

/*
 * Finds the GUID of a provider, after etwas_steer_take_part. If `text` is a name, it is that of the
 * provider that calls itself so, else the one made of the name, which is said on standard error.
 * False after a message there: two call themselves so.
 */
bool etwas_steer_find_provider(const char *command, const char *text, etwas_guid *guid);

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
 * Has a process registered a provider, or has the system it? And does a session, by its handle,
 * enable it?
 */
struct etwas_steer_standing {
    bool is_registered;
    bool is_enabled;
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

/* PROVIDER[:KEYWORDS[:LEVEL]], which is kept. False: some part is wrong. */
bool etwas_steer_parse_provider(const char *text, struct etwas_steer_provider *provider);

/*
 * Finds it, and enables it in the session; `filter` may be NULL. False after a message on standard
 * error.
 */
bool etwas_steer_enable(const char *command, TRACEHANDLE session,
                        const struct etwas_steer_provider *provider,
                        EVENT_FILTER_DESCRIPTOR *filter);

/* Is it given by a name, of which a GUID is made where nobody has it? */
bool etwas_steer_is_by_name(const struct etwas_steer_provider *provider);

/* The providers of one name that were enabled besides the one whose GUID is made of it. */
struct etwas_steer_others {
    etwas_guid guids[8];
    uint32_t count;
};

/*
 * As long as the session enables the GUID that is made of `provider`'s name: enables each provider
 * that calls itself so and has another GUID, once, and says so on standard error.
 */
void etwas_steer_enable_others(const char *command, TRACEHANDLE session,
                               const struct etwas_steer_provider *provider,
                               EVENT_FILTER_DESCRIPTOR *filter, struct etwas_steer_others *others);

#endif
