/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which classes have their instances counted. Two of the verbs of provider/counted_class.h.
 */
#ifndef ETWAS_PROVIDER_COUNTED_CLASSES_H
#define ETWAS_PROVIDER_COUNTED_CLASSES_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/pair.h"

void etwas_counted_classes_change(uint32_t control);

/*
 * Finds the class of a handle and its session; *session is 0 if it is not counted, or not any more.
 */
bool etwas_counted_classes_find(etwas_handle class_handle, etwas_pair *guid, uint64_t *session);

#endif
