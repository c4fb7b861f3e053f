/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What was described, in the mappings of crash-safe sessions: there before the first event of which it speaks.
 */
#ifndef ETWAS_PROVIDER_CRASH_SAFE_METADATA_H
#define ETWAS_PROVIDER_CRASH_SAFE_METADATA_H

#include "session/session.h"

/* What the session's mapping does not have yet; it has one. With the control lock held. */
void etwas_crash_safe_write_descriptions(struct etwas_session *session);

/* The same, of what was described without that lock (manifest_chunk.h), once it is open. Takes the control lock. */
void etwas_crash_safe_write_late_descriptions(struct etwas_session *session);

/* The same for all that have one. With the control lock held. */
void etwas_crash_safe_write_all_descriptions(void);

#endif
