/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What `etwas ship` reads of servers, of addresses and of files of settings. u8: which; then the
 * text.
 */
#include <string.h>

#include "ship/config.h"
#include "ship/wire/address.h"
#include "ship/wire/answer.h"
#include "ship/wire/secret.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- servers --------------------------------------------------------------------------------- */

struct rows {
    uint32_t columns;
    size_t bytes;
};

static bool take_row(void *context, const struct etwas_ship_field *fields)
{
    struct rows *rows = context;

    for (uint32_t i = 0; i < rows->columns; i++) {
        MUST(fields[i].text[fields[i].bytes] == '\0');
        rows->bytes += fields[i].bytes + 1;
    }
    return true;
}

static void read_answer(char *text, size_t bytes, uint32_t columns)
{
    struct rows rows = {columns, 0};
    uint32_t exception = etwas_ship_answer_exception(text, bytes);
    enum etwas_ship_meaning meaning = etwas_ship_answer_means(200, exception);

    MUST((meaning == ETWAS_SHIP_MEANS_GOOD) == (exception == 0));
    (void)etwas_ship_answer_late_exception(text, bytes);
    if (etwas_ship_answer_is_rows(text, bytes, columns)) {
        etwas_ship_answer_rows(text, bytes, columns, take_row, &rows);
        MUST(rows.bytes <= bytes);
    }
}

static void read_words(const char *text)
{
    uint64_t value = 0;
    uint32_t version = etwas_ship_answer_version(text);

    MUST(version < 1000 * 1000);
    (void)etwas_ship_answer_setting(text, "replicated_deduplication_window", &value);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void read_address(const char *text)
{
    struct etwas_ship_shard_addresses *shard = malloc(sizeof *shard);
    struct etwas_ship_address again;

    MUST(shard != NULL);
    if (etwas_ship_address_shard(text, shard) == NULL) {
        MUST(shard->count > 0 && shard->count <= ETWAS_SHIP_REPLICAS);
        for (uint32_t i = 0; i < shard->count; i++) {
            const struct etwas_ship_address *address = &shard->replicas[i];

            MUST(strpbrk(address->url, "@?#% \r\n") == NULL);
            MUST(etwas_ship_address_parse(address->url, strlen(address->url), &again) == NULL);
            MUST(strcmp(again.url, address->url) == 0 && again.port == address->port);
        }
    }
    free(shard);
}

static void read_secret(const char *text, size_t bytes)
{
    struct etwas_ship_secret *secret = calloc(1, sizeof *secret);

    MUST(secret != NULL);
    if (etwas_ship_secret_parse(text, bytes, secret) == NULL) {
        MUST(secret->user[0] != '\0');
        MUST(strpbrk(secret->user, "\r\n") == NULL && strpbrk(secret->password, "\r\n") == NULL);
    }
    etwas_ship_secret_forget(secret);
    free(secret);
}

static bool take_line(void *context, const char *name, const char *value)
{
    uint32_t *taken = context;

    MUST(strchr(name, '\n') == NULL);
    MUST(value == NULL || strchr(value, '\n') == NULL);
    (*taken)++;
    return true;
}

static void read_config(char *text, size_t bytes)
{
    static struct etwas_ship_config config;
    uint32_t taken = 0;

    config = (struct etwas_ship_config){take_line, &taken, ""};
    (void)etwas_ship_config_parse(&config, "ship.conf", text, bytes);
    MUST(taken <= bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bytes = size > 0 ? size - 1 : 0;
    char *text = malloc(bytes + 1);

    MUST(text != NULL);
    if (bytes > 0) {
        memcpy(text, data + 1, bytes);
    }
    text[bytes] = '\0';
    switch (size > 0 ? data[0] % 8 : 0) {
    case 0:
        read_address(text);
        break;
    case 1:
        read_secret(text, bytes);
        break;
    case 2:
        read_config(text, bytes);
        break;
    case 3:
        read_words(text);
        break;
    default:
        read_answer(text, bytes, data[0] / 8);
    }
    free(text);
    return 0;
}
