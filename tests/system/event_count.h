/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How many of a file's events are of a kind.
 */
#ifndef ETWAS_TESTS_SYSTEM_EVENT_COUNT_H
#define ETWAS_TESTS_SYSTEM_EVENT_COUNT_H

#include "system/kernel_fixture.h"

uint32_t count_class(const struct events *events, const etwas_guid *class_guid);

/* Returns how many events of this class and type have this number at the offset. */
uint32_t count_saying(const struct events *events, const etwas_guid *class_guid, uint8_t type,
                      size_t offset, uint32_t number);

uint32_t count_switches_to(const struct events *events, uint32_t thread_id);

#endif
