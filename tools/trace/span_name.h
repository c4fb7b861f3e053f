/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_SPAN_NAME_H
#define ETWAS_TOOLS_TRACE_SPAN_NAME_H

/*
 * What the classes of instances and activities are called, and kinds of other events.
 */

#include "trace/descriptions.h"

enum {
    ETWAS_SPAN_NAME_BYTES = 128, /* with its 0; what is longer is cut */
};

/* Is it of the type with which spans begin or end? */
bool etwas_span_name_is_of_span(const EVENT_RECORD *record);

/*
 * PROVIDER/CLASS: the name of an event that begins or ends it without what says which of these it
 * does; PROVIDER/EVENT, the whole name, of others. The GUID where nothing describes the event.
 */
void etwas_span_name_make(char name[ETWAS_SPAN_NAME_BYTES],
                          const struct etwas_schema_texts *schema_texts,
                          const EVENT_RECORD *record);

/* By its whole name, by what stands behind the provider, or by its GUID; in any case. */
bool etwas_span_name_is(const char *name, const etwas_guid *guid, const char *wanted);

#endif
