/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is made of a server's answer to the question whether all is there: answers that are none,
 * and what is said.
 */
#include "ship/state/prove.h"
#include "ship/wire/send.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A row as the server sends it: fields with spaces between. */
static bool take(struct etwas_ship_proofs *proofs, const char *text)
{
    struct etwas_ship_field fields[ETWAS_SHIP_PROOF_FIELDS];
    char copy[1024];
    char *at = copy;

    (void)snprintf(copy, sizeof copy, "%s", text);
    for (uint32_t i = 0; i < ETWAS_SHIP_PROOF_FIELDS; i++) {
        char *end = at + strcspn(at, " ");

        fields[i] = (struct etwas_ship_field){.text = at, .bytes = (size_t)(end - at)};
        at = *end == ' ' ? end + 1 : end;
        *end = '\0';
    }
    return etwas_ship_proof_row(proofs, fields);
}

/* What is written, in memory that the next call uses again. */
static const char *written(void (*put)(struct etwas_output *, const struct etwas_ship_proofs *),
                           struct etwas_ship_proofs *proofs)
{
    static struct etwas_output output;
    static char text[16384];
    FILE *file = tmpfile();
    size_t bytes;

    assert_non_null(file);
    etwas_output_to(&output, fileno(file));
    etwas_ship_proofs_join(proofs);
    put(&output, proofs);
    etwas_output_flush(&output);
    rewind(file);
    bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    (void)fclose(file);
    return text;
}

static const char complete_row[] =
    "web1 7 complete 47 40 0 7 40 40 0 0 0 1 1 0 0 5 0 2 0 0 0 0 0 0 0";

static void a_row_has_a_session(void **state)
{
    struct etwas_ship_proofs proofs = {.count = 0};

    (void)state;
    assert_true(take(&proofs, complete_row));
    assert_true(take(&proofs, "db1 18446744073709551615 gone 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
                              "16 17 18 19 20 21 22 23"));
    assert_int_equal(proofs.count, 2);
    assert_string_equal(proofs.list[0].host, "web1");
    assert_int_equal(proofs.list[0].verdict, ETWAS_SHIP_COMPLETE);
    assert_true(proofs.list[1].session == UINT64_MAX);
    for (uint32_t i = 0; i < ETWAS_SHIP_PROOF_NUMBERS; i++) {
        assert_int_equal(proofs.list[1].numbers[i], i + 1);
    }
    etwas_ship_proofs_free(&proofs);
}

static void what_is_no_proof_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "web1 7 complete",
        "web1 7 perfect 47 40 0 7 40 40 0 0 0 1 1 0 0 5 0 2 0 0 0 0 0 0 0",
        "web1 -7 complete 47 40 0 7 40 40 0 0 0 1 1 0 0 5 0 2 0 0 0 0 0 0 0",
        "web1 7 complete 47 40 0 7 40 40 0 0 0 1 1 0 0 5 0 2 0 0 0 0 0 0 0x",
        "web1 7 complete 47 40 0 7 40 40 0 0 0 1 1 0 0 5 0 2 0 0 0 0 0 0 18446744073709551616",
        "web1 7 complete \\N 40 0 7 40 40 0 0 0 1 1 0 0 5 0 2 0 0 0 0 0 0 0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct etwas_ship_proofs proofs = {.count = 0};

        assert_false(take(&proofs, wrong[i]));
        assert_non_null(proofs.wrong);
        assert_int_equal(proofs.count, 0);
        etwas_ship_proofs_free(&proofs);
    }
}

static void names_take_the_places_of_marks(void **state)
{
    static char query[ETWAS_SHIP_PROOF_QUERY_BYTES];
    static char name[ETWAS_SHIP_PROOF_QUERY_BYTES];

    (void)state;
    assert_true(etwas_ship_proof_query(query, "`a`.`e`", "`a`.`b`", "`a`.`l`", 4294967295));
    assert_null(strchr(query, '@'));
    assert_non_null(strstr(query, "from `a`.`e`\n"));
    assert_non_null(strstr(query, "from `a`.`b`\n"));
    assert_non_null(strstr(query, "in (select session_id from `a`.`l`\n"));
    assert_non_null(strstr(query, "today() - least(4294967295, toUInt16(today())))"));
    memset(name, 'x', sizeof name - 1);
    assert_false(etwas_ship_proof_query(query, name, "b", "b", 1));
}

/* In order of host and session, and each number under its title. */
static void the_table_says_what_is_wrong(void **state)
{
    struct etwas_ship_proofs proofs = {.count = 0};

    (void)state;
    assert_true(take(&proofs, complete_row));
    assert_true(
        take(&proofs, "app 9 incomplete 42 42 0 0 40 40 1 2 0 3 2 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_true(take(&proofs, "app 8 unfinished 0 0 0 0 40 40 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_true(take(&proofs, "app 10 gone 0 0 0 0 40 40 0 0 25 1 0 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_string_equal(
        written(etwas_ship_proofs_print, &proofs),
        "# host  session  verdict     attempted  recorded  overwritten  lost  there  gone\n"
        "app           8  unfinished          0         0            0     0     40     0\n"
        "    it has not told its end: it runs, or was killed and not recovered, or its end is not "
        "shipped yet\n"
        "app           9  incomplete         42        42            0     0     40     0\n"
        "    1 buffers have no row\n"
        "    2 buffers do not have each of their events once\n"
        "    2 of 3 files told their end\n"
        "    2 recorded events are not there\n"
        "app          10  gone                0         0            0     0     40    25\n"
        "    25 events went with their files before they were shipped\n"
        "web1          7  complete           47        40            0     7     40     0\n"
        "    5 lost_no_buffer\n"
        "    2 lost_write_error\n"
        "# 4 sessions: 1 complete, 1 unfinished, 1 incomplete, 1 gone\n");
    etwas_ship_proofs_free(&proofs);
}

static void json_has_an_object_a_session(void **state)
{
    struct etwas_ship_proofs proofs = {.count = 0};

    (void)state;
    assert_true(take(&proofs, complete_row));
    assert_true(take(&proofs, "\"\x1b 8 gone 0 0 0 0 40 40 0 0 25 1 0 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_string_equal(
        written(etwas_ship_proofs_print_json, &proofs),
        "{\"etwas\":\"0.1\",\"kind\":\"shipped\",\"host\":\"\\\"\\u001b\",\"session_id\":8,"
        "\"verdict\":\"gone\",\"shards\":1,\"attempted\":0,"
        "\"recorded\":0,\"overwritten\":0,\"lost\":0,\"events\":40,\"by_buffers\":40,"
        "\"missing_buffers\":0,\"wrong_buffers\":0,\"gone\":25,\"parts\":1,\"parts_ended\":0,"
        "\"recovered\":0,\"damages\":0,\"lost_no_buffer\":0,\"lost_backlog_full\":0,"
        "\"lost_write_error\":0,\"lost_file_full\":0,\"lost_abandoned\":0,"
        "\"lost_undelivered\":0,\"lost_unattached\":0,\"lost_too_large\":0,"
        "\"lost_withheld\":0,\"lost_other\":0}\n"
        "{\"etwas\":\"0.1\",\"kind\":\"shipped\",\"host\":\"web1\",\"session_id\":7,\"verdict\":"
        "\"complete\",\"shards\":1,\"attempted\":47,"
        "\"recorded\":40,\"overwritten\":0,\"lost\":7,\"events\":40,\"by_buffers\":40,"
        "\"missing_buffers\":0,\"wrong_buffers\":0,\"gone\":0,\"parts\":1,\"parts_ended\":1,"
        "\"recovered\":0,\"damages\":0,\"lost_no_buffer\":5,\"lost_backlog_full\":0,"
        "\"lost_write_error\":2,\"lost_file_full\":0,\"lost_abandoned\":0,"
        "\"lost_undelivered\":0,\"lost_unattached\":0,\"lost_too_large\":0,"
        "\"lost_withheld\":0,\"lost_other\":0}\n");
    etwas_ship_proofs_free(&proofs);
}

/* Each shard by itself says that all is there. */
static void what_two_shards_have_is_not_complete(void **state)
{
    struct etwas_ship_proofs proofs = {.count = 0};
    const char *text;

    (void)state;
    assert_true(take(&proofs, complete_row));
    assert_true(take(&proofs, "web1 8 complete 40 40 0 0 40 40 0 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_true(take(&proofs, complete_row));
    assert_true(take(&proofs, "web2 7 gone 40 40 0 0 40 40 0 0 1 2 1 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_true(take(&proofs, "web2 7 complete 40 40 0 0 40 40 0 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0"));
    text = written(etwas_ship_proofs_print, &proofs);
    assert_int_equal(proofs.count, 3);
    assert_int_equal(proofs.list[0].session, 7);
    assert_int_equal(proofs.list[0].verdict, ETWAS_SHIP_INCOMPLETE);
    assert_int_equal(proofs.list[0].numbers[ETWAS_SHIP_PROOF_EVENTS], 80);
    assert_int_equal(proofs.list[0].numbers[ETWAS_SHIP_PROOF_PARTS], 1);
    assert_int_equal(proofs.list[1].verdict, ETWAS_SHIP_COMPLETE);
    assert_int_equal(proofs.list[2].verdict, ETWAS_SHIP_GONE);
    assert_int_equal(proofs.list[2].numbers[ETWAS_SHIP_PROOF_PARTS], 2);
    assert_non_null(strstr(text, "    2 shards have rows of it"));
    assert_non_null(strstr(text, "# 3 sessions: 1 complete, 1 incomplete, 1 gone"));
    etwas_ship_proofs_free(&proofs);
}

/* A terminal shall not be steered by what a host calls itself. */
static void a_host_is_written_so_that_it_does_nothing(void **state)
{
    struct etwas_ship_proofs proofs = {.count = 0};

    (void)state;
    assert_true(take(&proofs, "\x1b[2J 8 gone 0 0 0 0 40 40 0 0 25 1 0 0 0 0 0 0 0 0 0 0 0 0 0"));
    assert_null(strchr(written(etwas_ship_proofs_print, &proofs), '\x1b'));
    etwas_ship_proofs_free(&proofs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_a_session),
        cmocka_unit_test(what_is_no_proof_is_refused),
        cmocka_unit_test(names_take_the_places_of_marks),
        cmocka_unit_test(the_table_says_what_is_wrong),
        cmocka_unit_test(json_has_an_object_a_session),
        cmocka_unit_test(what_two_shards_have_is_not_complete),
        cmocka_unit_test(a_host_is_written_so_that_it_does_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
