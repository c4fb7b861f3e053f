/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Publishes one event to each session that listens and whose filter lets it pass, with the items
 * that this session requests (R77).
 */
#ifndef ETWAS_PROVIDER_EVENT_PUBLISH_H
#define ETWAS_PROVIDER_EVENT_PUBLISH_H

#include "provider/event_provider.h"
#include "provider/event_record.h"

/*
 * Publishes a record that was built without the items of event_items.h. Changes the record and the
 * recipients. The first `recorded` sessions have it already. Returns what EventWriteEx returns.
 * Async-signal-safe.
 */
uint32_t etwas_event_publish(const struct etwas_event_provider *provider,
                             const struct etwas_event_arguments *event,
                             struct etwas_recipients *recipients, uint32_t recorded,
                             struct etwas_event_record *built);

/*
 * Counts an event that is too large for any record in each session that would have got it and does
 * not have it. Async-signal-safe.
 */
void etwas_event_count_too_large(const struct etwas_event_provider *provider,
                                 const struct etwas_event_arguments *event,
                                 struct etwas_recipients *recipients, uint32_t recorded,
                                 const struct etwas_event_record *built);

#endif
