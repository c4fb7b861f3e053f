/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sends made-up blocks to servers as `etwas ship` does, and asks them.
 *
 * usage: ship_wire_work ACTION... -- OPTION...    the options of `etwas ship`
 *
 *     send:ROWS[:SEED]     a block of events with so many rows, to shard 0
 *     buffers:ROWS[:SEED]  of buffers
 *     all:ROWS:COUNT       so many blocks to each shard at once, by a thread each
 *     ask:COLUMNS:SQL      shard 0; its rows are shown, a field in []
 *     each:COLUMNS:SQL     every replica of it
 *     pause                until a line comes
 *
 * Prints a line an action: sent, stopped or refused. SIGTERM asks it to end.
 *
 * usage: ship_wire_work columns|modern-columns      what the tables have: suffix, column, type
 */

#include "cli/guides.h"
#include "ship/settings.h"
#include "ship/wire/send.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* In place of commands.c, which needs all of them. */
const struct etwas_command *const etwas_commands[] = {&etwas_ship_command, NULL};
const struct etwas_guide etwas_guides[] = {{NULL, NULL, NULL}};

static int stop;
static struct etwas_ship_target *target;

static void on_signal(int number)
{
    const uint64_t one = 1;

    (void)number;
    (void)!write(stop, &one, sizeof one);
}

static const char *word_of(enum etwas_ship_sent sent)
{
    static const char *const words[] = {"sent", "stopped", "refused"};

    return words[sent];
}

static void put(struct etwas_columns *columns, enum etwas_ship_table table, uint32_t index,
                uint64_t value)
{
    uint32_t count;

    switch (etwas_ship_columns(table, &count)[index].type) {
    case ETWAS_SHIP_U8:
        etwas_columns_u8(columns, index, (uint8_t)value);
        break;
    case ETWAS_SHIP_U16:
        etwas_columns_u16(columns, index, (uint16_t)value);
        break;
    case ETWAS_SHIP_DATE:
        etwas_columns_u16(columns, index, 20000);
        break;
    case ETWAS_SHIP_U32:
        etwas_columns_u32(columns, index, (uint32_t)value);
        break;
    case ETWAS_SHIP_U64:
        etwas_columns_u64(columns, index, value);
        break;
    case ETWAS_SHIP_TIME:
        etwas_columns_time(columns, index, (int64_t)value);
        break;
    case ETWAS_SHIP_GUID:
        etwas_columns_guid(columns, index, &(etwas_guid){.Data1 = (uint32_t)value});
        break;
    case ETWAS_SHIP_STRING:
    case ETWAS_SHIP_NAME:
        etwas_columns_string(columns, index, "text", 4);
        break;
    case ETWAS_SHIP_INTS:
        etwas_columns_int(columns, index, "price", 5, (int64_t)value);
        break;
    case ETWAS_SHIP_REALS:
        etwas_columns_real(columns, index, "ratio", 5, 0.5);
        break;
    case ETWAS_SHIP_TEXTS:
        etwas_columns_text(columns, index, "who", 3, "me", 2);
        break;
    }
}

static enum etwas_ship_sent send_rows(uint32_t shard, enum etwas_ship_table table, uint32_t rows,
                                      uint64_t seed)
{
    struct etwas_columns columns;
    enum etwas_ship_sent sent;
    char token[32];
    uint32_t count;

    (void)etwas_ship_columns(table, &count);
    etwas_columns_open(&columns, table, etwas_ship_target_dialect(target));
    for (uint32_t row = 0; row < rows; row++) {
        etwas_columns_begin(&columns);
        for (uint32_t i = 0; i < count; i++) {
            put(&columns, table, i, seed * 1000003 + row);
        }
        etwas_columns_end(&columns);
    }
    if (!etwas_columns_finish(&columns)) {
        abort();
    }
    (void)snprintf(token, sizeof token, "block-%u-%llu", (unsigned)table, (unsigned long long)seed);
    sent = etwas_ship_send(target, shard, &columns, token);
    etwas_columns_close(&columns);
    return sent;
}

struct sender {
    pthread_t thread;
    uint32_t shard;
    uint32_t rows;
    uint32_t blocks;
    enum etwas_ship_sent sent;
};

static void *run_sender(void *context)
{
    struct sender *sender = context;

    for (uint32_t i = 0; i < sender->blocks && sender->sent == ETWAS_SHIP_SENT; i++) {
        sender->sent = send_rows(sender->shard, ETWAS_SHIP_EVENTS, sender->rows,
                                 1000 * (sender->shard + 1) + i);
    }
    return NULL;
}

static enum etwas_ship_sent send_to_all(uint32_t rows, uint32_t blocks)
{
    static struct sender senders[ETWAS_SHIP_SHARDS];
    enum etwas_ship_sent sent = ETWAS_SHIP_SENT;
    uint32_t count = etwas_ship_target_shards(target);

    for (uint32_t i = 0; i < count; i++) {
        senders[i] = (struct sender){.shard = i, .rows = rows, .blocks = blocks};
        if (pthread_create(&senders[i].thread, NULL, run_sender, &senders[i]) != 0) {
            abort();
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(senders[i].thread, NULL);
        sent = senders[i].sent != ETWAS_SHIP_SENT ? senders[i].sent : sent;
    }
    return sent;
}

static bool show(void *context, const struct etwas_ship_field *fields)
{
    const uint32_t *columns = context;

    for (uint32_t i = 0; i < *columns; i++) {
        printf("[%.*s]", (int)fields[i].bytes, fields[i].text);
    }
    printf("\n");
    return true;
}

static enum etwas_ship_sent ask(int replica, char *text)
{
    uint32_t columns = (uint32_t)strtoul(text, &text, 10);
    const struct etwas_ship_question question = {
        .sql = text + 1, .columns = columns, .row = show, .context = &columns};

    return etwas_ship_ask(target, 0, replica, &question);
}

static enum etwas_ship_sent act(char *action)
{
    char *value = strchr(action, ':');
    uint32_t first = value != NULL ? (uint32_t)strtoul(value + 1, NULL, 10) : 0;
    const char *second = value != NULL ? strchr(value + 1, ':') : NULL;
    uint32_t number = second != NULL ? (uint32_t)strtoul(second + 1, NULL, 10) : 1;

    if (strncmp(action, "send:", 5) == 0) {
        return send_rows(0, ETWAS_SHIP_EVENTS, first, number);
    }
    if (strncmp(action, "buffers:", 8) == 0) {
        return send_rows(0, ETWAS_SHIP_BUFFERS, first, number);
    }
    if (strncmp(action, "all:", 4) == 0) {
        return send_to_all(first, number);
    }
    if (strncmp(action, "ask:", 4) == 0) {
        return ask(ETWAS_SHIP_ANY, action + 4);
    }
    if (strncmp(action, "each:", 5) == 0) {
        return ask(ETWAS_SHIP_EACH, action + 5);
    }
    (void)getchar();
    return ETWAS_SHIP_SENT;
}

static int show_columns(bool is_modern)
{
    for (uint32_t table = 0; table < ETWAS_SHIP_TABLES; table++) {
        uint32_t count;
        const struct etwas_ship_column *columns =
            etwas_ship_columns((enum etwas_ship_table)table, &count);

        for (uint32_t i = 0; i < count; i++) {
            const char *suffix = etwas_ship_table_suffix((enum etwas_ship_table)table);
            const char *type = etwas_ship_type_name(columns[i].type, is_modern);

            if (is_modern || !etwas_ship_is_pairs(columns[i].type)) {
                printf("%s\t%s\t%s\n", suffix, columns[i].name, type);
            } else {
                printf("%s\t%s" ETWAS_SHIP_KEYS "\tArray(String)\n", suffix, columns[i].name);
                printf("%s\t%s" ETWAS_SHIP_VALUES "\tArray(%s)\n", suffix, columns[i].name, type);
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const opened[] = {"opened", "stopped", "refused"};
    static struct etwas_ship_settings settings;
    struct sigaction action = {.sa_handler = on_signal};
    enum etwas_ship_opened result;
    int options = 1;
    int code;

    if (argc == 2) {
        return show_columns(argv[1][0] == 'm');
    }
    while (options < argc && strcmp(argv[options], "--") != 0) {
        options++;
    }
    if (!etwas_ship_settings_read(argc - options, argv + options, &settings, &code)) {
        return code;
    }
    stop = eventfd(0, EFD_CLOEXEC);
    (void)sigaction(SIGTERM, &action, NULL);
    settings.target.stop = stop;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    result = etwas_ship_target_open(&settings.target, &target);
    printf("%s\n", opened[result]);
    if (result == ETWAS_SHIP_OPENED) {
        char *name = etwas_ship_target_make_name(&settings.target);

        printf("version %u, target %s\n", etwas_ship_target_version(target), name);
        free(name);
    }
    for (int i = 1; result == ETWAS_SHIP_OPENED && i < options; i++) {
        printf("%s\n", word_of(act(argv[i])));
    }
    etwas_ship_target_close(target);
    etwas_files_free();
    return 0;
}
