/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_describe_class and etwas_describe_message.
 */
#include <etwas/etwas.h>

#include "control/prepare.h"
#include "platform/sized_struct.h"
#include "provider/describe_class.h"
#include "session/sharing.h"

static uint32_t describe_class(const etwas_class_description *given, size_t given_bytes,
                               const char **fault)
{
    etwas_class_description description;
    uint32_t code = etwas_prepare_to_serve();

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!etwas_sized_read(&description, sizeof description, given, given_bytes)) {
        return ERROR_NOT_SUPPORTED;
    }
    *fault = etwas_class_description_check(&description);
    if (*fault != NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_class_describe(&description, fault);
    etwas_sharing.send_descriptions();
    return code;
}

uint32_t etwas_describe_class_sized(const etwas_class_description *given, size_t given_bytes,
                                    const char **given_fault)
{
    const char *fault = NULL;
    uint32_t code = describe_class(given, given_bytes, &fault);

    if (given_fault != NULL) {
        *given_fault = fault;
    }
    return code;
}

uint32_t etwas_describe_message(const etwas_guid *message_guid, uint16_t number, const char *format)
{
    uint32_t code;

    if (message_guid == NULL || format == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_prepare_to_serve();
    code = code == ERROR_SUCCESS ? etwas_message_describe(message_guid, number, format) : code;
    etwas_sharing.send_descriptions();
    return code;
}
