/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of classic providers. RegisterTraceGuids takes none, so they come from the descriptions
 * of classes (etwas_describe_class), which may be made before or after the registration. A name
 * that a provider of the same GUID gives itself comes first.
 */
#ifndef ETWAS_PROVIDER_DESCRIBED_NAME_H
#define ETWAS_PROVIDER_DESCRIBED_NAME_H

#include <etwas/etwas.h>
#include <stdbool.h>

#include "provider/registration.h"

/*
 * Stores the name that the description of a class, which has been checked, has of the class's
 * provider. Returns whether a provider that is registered, with this class
 * or under this GUID, has another name than before. Takes the control lock.
 */
bool etwas_described_name_store(const etwas_class_description *description);

/*
 * Gives a provider that was just registered the name that the first described one of its control
 * GUID and its classes has. Takes the control lock.
 */
void etwas_described_name_apply(const struct etwas_registration_request *request);

#endif
