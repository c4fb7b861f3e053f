/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptions of classes and messages: the arguments of public functions of etwas.h, checked and
 * made into records.
 */
#ifndef ETWAS_PROVIDER_DESCRIBE_CLASS_H
#define ETWAS_PROVIDER_DESCRIBE_CLASS_H

#include <etwas/etwas.h>

/* Checks a description. Returns a sentence that says what is wrong, or NULL. */
const char *etwas_class_description_check(const etwas_class_description *description);

/* Implements etwas_describe_class for a description that was checked. */
uint32_t etwas_class_describe(const etwas_class_description *description, const char **fault);

/* Implements etwas_describe_message. */
uint32_t etwas_message_describe(const etwas_guid *message_guid, uint16_t number,
                                const char *format);

#endif
