/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How manifests come to be known: in chunks, anew, ahead, for events of other versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shop.h"

/* The document in three parts. */
static struct chunk part(uint16_t number)
{
    enum {
        WHOLE = sizeof EVENT_SOURCE_DOCUMENT - 1,
        PART = WHOLE / 3,
    };
    static const char xml[] = EVENT_SOURCE_DOCUMENT;

    return (struct chunk){
        .provider = shop,
        .process_id = 1,
        .thread_id = 2,
        .version = {1, 0},
        .total = 3,
        .number = number,
        .xml = xml + number * PART,
        .bytes = number == 2 ? WHOLE - 2 * PART : PART,
    };
}

static uint32_t learn_part(etwas_decoder *decoder, uint16_t number)
{
    struct chunk chunk = part(number);

    return learn_chunk(decoder, &chunk);
}

static void chunks_are_put_together_by_number(void **state)
{
    assert_int_equal(learn_part(*state, 0), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 2), ERROR_SUCCESS);
    assert_false(is_known(*state));
    assert_int_equal(learn_part(*state, 1), ERROR_SUCCESS);
    assert_true(is_known(*state));
}

static void chunks_of_other_threads_stand_between(void **state)
{
    for (uint16_t number = 0; number < 3; number++) {
        struct chunk chunk = part(number);

        assert_int_equal(learn_chunk(*state, &chunk), ERROR_SUCCESS);
        assert_int_equal(is_known(*state), number == 2);
        chunk.xml = "something else altogether";
        chunk.bytes = 9;
        chunk.thread_id = 3;
        assert_int_equal(learn_chunk(*state, &chunk),
                         number < 2 ? ERROR_SUCCESS : ERROR_INVALID_DATA);
        chunk.thread_id = 2;
        chunk.process_id = 3;
        assert_int_equal(learn_chunk(*state, &chunk),
                         number < 2 ? ERROR_SUCCESS : ERROR_INVALID_DATA);
    }
}

static void the_first_chunk_begins_anew(void **state)
{
    assert_int_equal(learn_part(*state, 0), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 2), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 0), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 1), ERROR_SUCCESS);
    assert_false(is_known(*state));
    assert_int_equal(learn_part(*state, 2), ERROR_SUCCESS);
    assert_true(is_known(*state));
}

static void a_chunk_that_comes_twice_discards_the_document(void **state)
{
    assert_int_equal(learn_part(*state, 0), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 1), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 1), ERROR_INVALID_DATA);
    assert_int_equal(learn_part(*state, 2), ERROR_SUCCESS);
    assert_false(is_known(*state));
}

static void chunks_must_agree(void **state)
{
    struct chunk chunk;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(learn_part(*state, 0), ERROR_SUCCESS);
        chunk = part(1);
        chunk.version[1] = i == 0;
        chunk.total = i == 1 ? 4 : 3;
        chunk.number = i == 2 ? 3 : 1;
        assert_int_equal(learn_chunk(*state, &chunk), ERROR_INVALID_DATA);
        assert_int_equal(learn_part(*state, 1), ERROR_SUCCESS);
        assert_int_equal(learn_part(*state, 2), ERROR_SUCCESS);
        assert_false(is_known(*state));
    }
}

static void a_chunk_that_is_not_taken_in_is_shown_as_one(void **state)
{
    static const uint8_t payload[] = {1, 2, 3, 0x5B, 1, 0, 9, 0, '<', 'a', '>'};
    EVENT_RECORD record = event(0xFFFE, 1, payload, sizeof payload);

    record.EventHeader.EventDescriptor.Task = 0xFFFE;
    record.EventHeader.EventDescriptor.Opcode = 0xFE;
    assert_int_equal(etwas_decoder_learn(*state, &record), ERROR_INVALID_DATA);
    assert_string_equal(shown(*state, &record),
                        "/ManifestData Format=1 MajorVersion=2 MinorVersion=3 Magic=91 "
                        "TotalChunks=1 ChunkNumber=9 Data=\"<a>\"");
    assert_string_equal(SHOWN(*state, 0xFFFD, "\1\1\0\x5B\1\0\0\0x"), "(none)");
}

/* Their beginning may have been overwritten. */
static void chunks_without_a_first_one_are_passed_over(void **state)
{
    assert_int_equal(learn_part(*state, 1), ERROR_SUCCESS);
    assert_int_equal(learn_part(*state, 2), ERROR_SUCCESS);
    assert_false(is_known(*state));
}

/* Threads that begin a document and never end it; the newest of them can. */
static void documents_under_way_are_bounded(void **state)
{
    struct chunk chunk = part(0);

    for (chunk.thread_id = 3; chunk.thread_id < 3000; chunk.thread_id++) {
        assert_int_equal(learn_chunk(*state, &chunk), ERROR_SUCCESS);
    }
    for (uint16_t number = 1; number < 3; number++) {
        chunk = part(number);
        chunk.thread_id = 3;
        assert_int_equal(learn_chunk(*state, &chunk), ERROR_SUCCESS);
        chunk.thread_id = 2999;
        assert_false(is_known(*state));
        assert_int_equal(learn_chunk(*state, &chunk), ERROR_SUCCESS);
    }
    assert_true(is_known(*state));
}

/* A table of them is kept until they have come. */
static void chunks_that_are_promised_are_bounded(void **state)
{
    struct chunk chunk = part(0);

    chunk.total = 4096;
    assert_int_equal(learn_chunk(*state, &chunk), ERROR_SUCCESS);
    chunk.total = 4097;
    assert_int_equal(learn_chunk(*state, &chunk), ERROR_INVALID_DATA);
}

static void a_document_is_bounded(void **state)
{
    static char blanks[65000];
    struct chunk chunk = {.provider = shop, .total = 1000, .xml = blanks, .bytes = sizeof blanks};
    uint32_t error = ERROR_SUCCESS;

    memset(blanks, ' ', sizeof blanks);
    for (; chunk.number < chunk.total && error == ERROR_SUCCESS; chunk.number++) {
        error = learn_chunk(*state, &chunk);
    }
    assert_int_equal(error, ERROR_INVALID_DATA);
    assert_int_equal(chunk.number, (16 << 20) / sizeof blanks + 1);
}

/* ---- versions -------------------------------------------------------------------------------- */

static uint32_t learn_version(etwas_decoder *decoder, uint8_t minor, const char *name)
{
    char xml[1024];
    struct chunk chunk = {.provider = shop, .version = {1, minor}, .total = 1, .xml = xml};

    chunk.bytes = (size_t)snprintf(xml, sizeof xml,
                                   BEFORE "<events><event value='1' symbol='%s'/></events>" //
                                   BETWEEN BEHIND,
                                   name);
    return learn_chunk(decoder, &chunk);
}

static void the_newest_manifest_wins_unless_its_version_is_older(void **state)
{
    assert_int_equal(learn_version(*state, 1, "first"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/first");
    assert_int_equal(learn_version(*state, 1, "second"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/second");
    assert_int_equal(learn_version(*state, 0, "third"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/second");
    assert_int_equal(learn_version(*state, 2, "fourth"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/fourth");
}

/* The first pass over a file, and the second. */
static void a_manifest_learned_ahead_leaves_what_was_described(void **state)
{
    learning = etwas_decoder_learn_ahead;
    assert_int_equal(learn_version(*state, 1, "first"), ERROR_SUCCESS);
    assert_int_equal(learn_version(*state, 2, "second"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/first");
    learning = etwas_decoder_learn;
    assert_int_equal(learn_version(*state, 1, "first"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/first");
    assert_int_equal(learn_version(*state, 2, "second"), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/second");
}

static void an_event_of_an_unknown_version_has_the_fields_of_another(void **state)
{
    EVENT_RECORD record = event(1, 3, "\1\2\3\4", 4);

    assert_int_equal(
        learn_inside(*state,
                     "<templates>"
                     "<template tid='old'><data name='a' inType='win:UInt8'/></template>"
                     "<template tid='new'><data name='a' inType='win:UInt8'/>"
                     "<data name='b' inType='win:UInt8'/></template>"
                     "<template tid='newest'><data name='x' inType='win:UInt32'/></template>"
                     "</templates><events>"
                     "<event value='1' version='1' symbol='e' template='old'/>"
                     "<event value='1' version='2' symbol='e' template='new'/>"
                     "<event value='1' version='4' symbol='e' template='newest'/>"
                     "</events>"),
        ERROR_SUCCESS);
    assert_string_equal(shown(*state, &record), "Shop/e~ a=1 b=2 +2");
    record.UserDataLength = 1; /* those of version 2 are not all there */
    assert_string_equal(shown(*state, &record), "Shop/e~ a=1");
    record.EventHeader.EventDescriptor.Version = 1;
    assert_string_equal(shown(*state, &record), "Shop/e a=1");
    record.EventHeader.EventDescriptor.Version = 0;
    assert_string_equal(shown(*state, &record), "Shop/e~ a=1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)
    const struct CMUnitTest tests[] = {
        TEST(chunks_are_put_together_by_number),
        TEST(chunks_of_other_threads_stand_between),
        TEST(the_first_chunk_begins_anew),
        TEST(a_chunk_that_comes_twice_discards_the_document),
        TEST(chunks_must_agree),
        TEST(a_chunk_that_is_not_taken_in_is_shown_as_one),
        TEST(chunks_without_a_first_one_are_passed_over),
        TEST(documents_under_way_are_bounded),
        TEST(chunks_that_are_promised_are_bounded),
        TEST(a_document_is_bounded),
        TEST(the_newest_manifest_wins_unless_its_version_is_older),
        TEST(a_manifest_learned_ahead_leaves_what_was_described),
        TEST(an_event_of_an_unknown_version_has_the_fields_of_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
