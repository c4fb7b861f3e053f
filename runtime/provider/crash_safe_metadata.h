/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes descriptions into the mappings of crash-safe sessions, each before the first event that it
 * describes.
 */
#ifndef ETWAS_PROVIDER_CRASH_SAFE_METADATA_H
#define ETWAS_PROVIDER_CRASH_SAFE_METADATA_H

#include "session/session.h"

/*
 * Writes the descriptions that the session's mapping lacks; the session has a mapping. The caller
 * holds the control lock.
 */
void etwas_crash_safe_write_descriptions(struct etwas_session *session);

/*
 * The same for descriptions that were added without the control lock (manifest_chunk.h), once the
 * mapping is open. Takes the control lock.
 */
void etwas_crash_safe_write_late_descriptions(struct etwas_session *session);

/* The same for all sessions with a mapping. The caller holds the control lock. */
void etwas_crash_safe_write_all_descriptions(void);

#endif
