/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Interprets the answers of servers. */

#include "ship/wire/answer.h"

#include <ctype.h>
#include <string.h>

/*
 * Exceptions that are transient, by their numbers, which never change (ErrorCodes.cpp of
 * ClickHouse).
 */
static const uint16_t passing[] = {
    3,    /* UNEXPECTED_END_OF_FILE: in another server's answer */
    74,   /* CANNOT_READ_FROM_FILE_DESCRIPTOR; this and the next two are disk errors */
    75,   /* CANNOT_WRITE_TO_FILE_DESCRIPTOR */
    76,   /* CANNOT_OPEN_FILE */
    159,  /* TIMEOUT_EXCEEDED */
    173,  /* CANNOT_ALLOCATE_MEMORY */
    198,  /* DNS_ERROR */
    201,  /* QUOTA_EXCEEDED */
    202,  /* TOO_MANY_SIMULTANEOUS_QUERIES */
    209,  /* SOCKET_TIMEOUT */
    210,  /* NETWORK_ERROR */
    216,  /* QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: the previous attempt, for the same block */
    225,  /* NO_ZOOKEEPER */
    236,  /* ABORTED: it is shutting down */
    241,  /* MEMORY_LIMIT_EXCEEDED */
    242,  /* TABLE_IS_READ_ONLY: no coordination service */
    243,  /* NOT_ENOUGH_SPACE */
    252,  /* TOO_MANY_PARTS */
    254,  /* NO_ACTIVE_REPLICAS */
    279,  /* ALL_CONNECTION_TRIES_FAILED */
    285,  /* TOO_FEW_LIVE_REPLICAS */
    286,  /* UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE */
    289,  /* REPLICA_IS_NOT_IN_QUORUM */
    319,  /* UNKNOWN_STATUS_OF_INSERT */
    394,  /* QUERY_WAS_CANCELLED */
    425,  /* SYSTEM_ERROR */
    473,  /* DEADLOCK_AVOIDED */
    499,  /* S3_ERROR */
    999,  /* KEEPER_EXCEPTION */
    1000, /* POCO_EXCEPTION; this and the next two are for all other errors, such as a full disk */
    1001, /* STD_EXCEPTION */
    1002, /* UNKNOWN_EXCEPTION */
};

static bool passes(uint32_t exception)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        if (passing[i] == exception) {
            return true;
        }
    }
    return false;
}

uint32_t etwas_ship_answer_exception(const char *text, size_t bytes)
{
    static const char begin[] = "Code: ";
    size_t at = sizeof begin - 1;
    uint32_t number = 0;

    if (bytes < at || memcmp(text, begin, at) != 0) {
        return 0;
    }
    for (; at < bytes && isdigit((unsigned char)text[at]) && number < 100000; at++) {
        number = number * 10 + (uint32_t)(text[at] - '0');
    }
    return at < bytes && (text[at] == ',' || text[at] == '.') ? number : 0;
}

uint32_t etwas_ship_answer_late_exception(const char *text, size_t bytes)
{
    static const char mark[] = "DB::Exception";
    const char *end = text + bytes;

    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline != NULL ? newline : end) - line);
        uint32_t exception = etwas_ship_answer_exception(line, length);

        if (exception != 0 && memmem(line, length, mark, sizeof mark - 1) != NULL) {
            return exception;
        }
        line += length + 1;
    }
    return 0;
}

static enum etwas_ship_meaning exception_means(uint32_t exception)
{
    switch (exception) {
    case 192: /* UNKNOWN_USER */
    case 193: /* WRONG_PASSWORD */
    case 194: /* REQUIRED_PASSWORD */
    case 516: /* AUTHENTICATION_FAILED */
        return ETWAS_SHIP_MEANS_LOGIN;
    case 164: /* READONLY */
    case 195: /* IP_ADDRESS_NOT_ALLOWED */
    case 291: /* DATABASE_ACCESS_DENIED */
    case 497: /* ACCESS_DENIED */
        return ETWAS_SHIP_MEANS_RIGHTS;
    case 60: /* UNKNOWN_TABLE */
    case 81: /* UNKNOWN_DATABASE */
        return ETWAS_SHIP_MEANS_NO_TABLE;
    default:
        return passes(exception) ? ETWAS_SHIP_MEANS_PASSING : ETWAS_SHIP_MEANS_WRONG;
    }
}

enum etwas_ship_meaning etwas_ship_answer_means(uint32_t status, uint32_t exception)
{
    if (exception != 0) {
        return exception_means(exception);
    }
    if (status == 200) {
        return ETWAS_SHIP_MEANS_GOOD;
    }
    if (status >= 300 && status < 400) {
        return ETWAS_SHIP_MEANS_MOVED;
    }
    if (status == 401) {
        return ETWAS_SHIP_MEANS_LOGIN;
    }
    /* Proxies in front of a server return these, too: timeout, rate limit, no server. */
    if (status == 408 || status == 429 || status < 400 || status >= 500) {
        return ETWAS_SHIP_MEANS_PASSING;
    }
    return ETWAS_SHIP_MEANS_STRANGER;
}

/* Returns what the character behind a backslash stands for. \N, which is NULL, is left as it is. */
static char unescaped(char character)
{
    static const char from[] = "bfnrt0";
    static const char to[] = "\b\f\n\r\t";
    const char *found = character != '\0' ? strchr(from, character) : NULL;

    return found != NULL ? to[found - from] : character;
}

/*
 * Unescapes a field in place; it never grows. It ends at a tab or a newline. Returns the position
 * behind that.
 */
static char *take_field(char *text, struct etwas_ship_field *field)
{
    char *to = text;
    char *at = text;

    field->text = text;
    while (*at != '\t' && *at != '\n') {
        bool is_escape = *at == '\\' && at[1] != 'N' && at[1] != '\t' && at[1] != '\n';

        *to++ = is_escape ? unescaped(at[1]) : *at;
        at += is_escape ? 2 : 1;
    }
    *to = '\0';
    field->bytes = (size_t)(to - text);
    return at + 1;
}

bool etwas_ship_answer_is_rows(const char *text, size_t bytes, uint32_t columns)
{
    uint32_t tabs = 0;

    for (size_t at = 0; at < bytes; at++) {
        if (text[at] == '\n' && tabs + 1 != columns) {
            return false;
        }
        tabs = text[at] == '\n' ? 0 : tabs + (text[at] == '\t');
    }
    return columns <= ETWAS_SHIP_ANSWER_COLUMNS && (bytes == 0 || text[bytes - 1] == '\n');
}

void etwas_ship_answer_rows(char *text, size_t bytes, uint32_t columns,
                            bool (*row)(void *context, const struct etwas_ship_field *fields),
                            void *context)
{
    struct etwas_ship_field fields[ETWAS_SHIP_ANSWER_COLUMNS];
    const char *end = text + bytes;
    bool more = true;

    while (more && text < end) {
        for (uint32_t i = 0; i < columns; i++) {
            text = take_field(text, &fields[i]);
        }
        more = row(context, fields);
    }
}

static bool is_of_word(char character)
{
    return isalnum((unsigned char)character) || character == '_';
}

bool etwas_ship_answer_setting(const char *engine, const char *name, uint64_t *value)
{
    static const char begin[] = " SETTINGS ";
    const char *settings = strstr(engine, begin);
    size_t bytes = strlen(name);

    for (const char *at = settings; at != NULL; at = strstr(at + 1, name)) {
        if (at == settings || is_of_word(at[-1]) || is_of_word(at[bytes])) {
            continue;
        }
        at += bytes;
        at += strspn(at, " =");
        if (!isdigit((unsigned char)*at)) {
            return false;
        }
        *value = 0;
        for (; isdigit((unsigned char)*at) && *value < UINT64_MAX / 100; at++) {
            *value = *value * 10 + (uint64_t)(*at - '0');
        }
        return true;
    }
    return false;
}

uint32_t etwas_ship_answer_version(const char *text)
{
    uint32_t number[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        if (!isdigit((unsigned char)*text)) {
            return 0;
        }
        for (; isdigit((unsigned char)*text) && number[i] < 1000; text++) {
            number[i] = number[i] * 10 + (uint32_t)(*text - '0');
        }
        if (*text++ != '.' || number[i] >= 1000) {
            return 0;
        }
    }
    return number[0] * 1000 + number[1];
}
