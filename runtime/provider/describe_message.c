/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The formats of messages.
 */
#include <string.h>

#include "etl/own_record.h"
#include "etl/utf16.h"
#include "provider/describe_class.h"
#include "provider/description.h"

enum {
    LONGEST_FORMAT_BYTES = 65000,
};

/* Skips one conversion after its percent sign. NULL: a message may not have it. */
static const char *message_format_skip_conversion(const char *at)
{
    static const char *const lengths[] = {"hh", "ll", "h", "l", "j", "z", "t"};
    size_t length = 0;

    at += strspn(at, "-+ #0");
    at += strspn(at, "0123456789");
    if (*at == '.') {
        at += 1 + strspn(at + 1, "0123456789");
    }
    for (size_t index = 0; length == 0 && index < sizeof lengths / sizeof lengths[0]; index++) {
        size_t bytes = strlen(lengths[index]);

        length = strncmp(at, lengths[index], bytes) == 0 ? bytes : 0;
    }
    if (at[length] == '\0') {
        return NULL;
    }
    if (strchr("diuoxX", at[length]) != NULL) {
        return at + length + 1;
    }
    if (length == 1 && *at == 'l' && at[1] == 's') {
        return at + 2;
    }
    return length == 0 && strchr("eEfFgGaAcsp%", *at) != NULL ? at + 1 : NULL;
}

static bool message_format_is_valid(const char *format)
{
    const char *at = format;

    while (at != NULL && (at = strchr(at, '%')) != NULL) {
        at = message_format_skip_conversion(at + 1);
        if (at == NULL) {
            return false;
        }
    }
    return true;
}

uint32_t etwas_message_describe(const etwas_guid *message_guid, uint16_t number, const char *format)
{
    const struct etwas_description_key subject = {
        .guid = *message_guid, .number = number, .kind = ETWAS_DESCRIBES_MESSAGE};
    const struct etwas_etl_message_format head = {
        .version = ETWAS_ETL_MESSAGE_FORMAT_VERSION, .number = number, .guid = *message_guid};
    size_t bytes = strlen(format);
    struct etwas_description *made;
    uint8_t *payload;
    size_t units;

    if (etwas_utf8_to_utf16(format, bytes, NULL, 0, &units) == ETWAS_UTF_INVALID ||
        !message_format_is_valid(format)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (bytes > LONGEST_FORMAT_BYTES) {
        return ERROR_MORE_DATA;
    }
    made = etwas_description_new(&subject);
    if (made == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    payload =
        etwas_description_add_record(made, &etwas_etl_own_class, ETWAS_ETL_MESSAGE_FORMAT_TYPE,
                                     ETWAS_ETL_MESSAGE_FORMAT_VERSION, sizeof head + bytes + 1);
    if (payload == NULL) {
        etwas_description_free(made);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(payload, &head, sizeof head);
    memcpy(payload + sizeof head, format, bytes + 1);
    etwas_description_publish(made);
    return ERROR_SUCCESS;
}
