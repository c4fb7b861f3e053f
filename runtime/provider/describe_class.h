/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptions of classes and messages: what the public functions of etwas.h were given, checked and
 * made into records.
 */
#ifndef ETWAS_PROVIDER_DESCRIBE_CLASS_H
#define ETWAS_PROVIDER_DESCRIBE_CLASS_H

#include <etwas/etwas.h>

/* What is wrong with a description, a sentence; NULL: it makes sense. */
const char *etwas_class_description_check(const etwas_class_description *description);

/* etwas_describe_class, of one that makes sense. */
uint32_t etwas_class_describe(const etwas_class_description *description, const char **fault);

/* etwas_describe_message. */
uint32_t etwas_message_describe(const etwas_guid *message_guid, uint16_t number,
                                const char *format);

#endif
