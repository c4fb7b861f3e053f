/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptions of classes and messages: the arguments of public functions of etwas.h, checked and
 * made into records.
 */
#ifndef ETWAS_PROVIDER_DESCRIBE_CLASS_H
#define ETWAS_PROVIDER_DESCRIBE_CLASS_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/registration.h"

/* Checks a description. Returns a sentence that says what is wrong, or NULL. */
const char *etwas_class_description_check(const etwas_class_description *description);

/* Implements etwas_describe_class for a description that was checked. */
uint32_t etwas_class_describe(const etwas_class_description *description, const char **fault);

/* Implements etwas_describe_message. */
uint32_t etwas_message_describe(const etwas_guid *message_guid, uint16_t number,
                                const char *format);

/* The in types that a field of a classic event may have. */

struct etwas_in_type {
    uint8_t bytes;    /* bytes in the payload; 0: they vary */
    uint8_t out_type; /* TDH_OUTTYPE_*, the usual one; 0: there is none */
};

/* Finds an in type; NULL: there is no such type, or fields cannot have it. */
const struct etwas_in_type *etwas_in_type(uint16_t in_type);

/*
 * The names of classic providers. RegisterTraceGuids takes none, so they come from the descriptions
 * of classes (etwas_describe_class), which may be made before or after the registration. The name
 * that a provider of the same GUID registers itself takes precedence.
 */

/*
 * Stores the provider's name from the checked description of a class. Returns whether this has
 * changed the name of a provider that is registered with this class or under this GUID. Takes the
 * control lock.
 */
bool etwas_described_name_store(const etwas_class_description *description);

/*
 * Gives a provider that was just registered its described name: the one of its control GUID, or
 * else of the first of its classes that has one. Takes the control lock.
 */
void etwas_described_name_apply(const struct etwas_registration_request *request);

#endif
