/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What events say in a sentence: by the format of a message, and by an event's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blob.h"
#include "decode/builder.h"
#include "etl/event_metadata.h"
#include "etl/own_record.h"
#include "shown.h"

static const etwas_guid guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

struct state {
    etwas_decoder *decoder;
    struct blob payload;
    size_t length; /* of the last message, which may be cut */
    char rest[40]; /* of the payload: "truncated 2, 1", "trailing 2" or nothing */
};

static int open_state(void **state)
{
    *state = calloc(1, sizeof(struct state));
    assert_non_null(*state);
    return (int)etwas_decoder_open(&((struct state *)*state)->decoder);
}

static int close_state(void **state)
{
    etwas_decoder_close(((struct state *)*state)->decoder);
    free(*state);
    return 0;
}

static uint32_t learn_bytes(etwas_decoder *decoder, const void *bytes, size_t count)
{
    void *exact = malloc(count + (count == 0));
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = etwas_etl_own_class,
                        .EventDescriptor = {.Opcode = ETWAS_ETL_MESSAGE_FORMAT_TYPE}},
        .UserData = exact,
        .UserDataLength = (uint16_t)count,
    };
    uint32_t error;

    assert_non_null(exact);
    memcpy(exact, bytes, count);
    error = learning(decoder, &record);
    free(exact);
    return error;
}

static uint32_t learn_format(etwas_decoder *decoder, const char *format)
{
    const struct etwas_etl_message_format head = {
        .version = ETWAS_ETL_MESSAGE_FORMAT_VERSION, .number = 5, .guid = guid};
    struct blob blob = {.count = 0};

    put_bytes(&blob, &head, sizeof head);
    put_text(&blob, format);
    return learn_bytes(decoder, blob.bytes, blob.count);
}

static const char *message_of(struct state *s, const EVENT_RECORD *record)
{
    static char text[4096];

    s->length = etwas_decoder_message(s->decoder, record, text, sizeof text);
    assert_true(s->length == strlen(text) || s->length >= sizeof text);
    return text;
}

static void keep_rest(struct state *s, const EVENT_RECORD *record)
{
    const uint8_t *begin = record->UserData;
    etwas_value rest;

    s->rest[0] = 0;
    if (!etwas_decoder_message_rest(s->decoder, record, &rest)) {
        return;
    }
    assert_ptr_equal(rest.data, begin + record->UserDataLength - rest.bytes);
    if (rest.token == ETWAS_TOKEN_TRUNCATED) {
        snprintf(s->rest, sizeof s->rest, "truncated %u, %u", rest.index, rest.bytes);
    } else {
        assert_int_equal(rest.token, ETWAS_TOKEN_TRAILING);
        snprintf(s->rest, sizeof s->rest, "trailing %u", rest.bytes);
    }
}

/* The message of the format with the payload, which ends where its allocation does. */
static const char *printed(struct state *s, const char *format)
{
    void *exact = malloc(s->payload.count + 1);
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE,
                        .ProviderId = guid,
                        .EventDescriptor = {.Id = 5}},
        .UserData = (uint8_t *)exact + 1,
        .UserDataLength = (uint16_t)s->payload.count,
    };
    const char *text;

    assert_non_null(exact);
    memcpy(record.UserData, s->payload.bytes, s->payload.count);
    assert_int_equal(learn_format(s->decoder, format), ERROR_SUCCESS);
    text = message_of(s, &record);
    keep_rest(s, &record);
    free(exact);
    return text;
}

static void each_conversion_takes_its_argument(void **state)
{
    struct state *s = *state;
    double half = 0.5;

    put_u8(&s->payload, 0xFF);
    put_u16(&s->payload, 0xFFFF);
    put_u32(&s->payload, 0xFFFFFFFF);
    put_u64(&s->payload, UINT64_MAX);
    put_u32(&s->payload, 255);
    put_u32(&s->payload, 255);
    put_u64(&s->payload, 8);
    assert_string_equal(printed(s, "%hhd %hd %i %lld %u %#x %zo"), "-1 -1 -1 -1 255 0xff 10");
    s->payload.count = 0;
    put_bytes(&s->payload, &half, sizeof half);
    put_u8(&s->payload, 'c');
    put_text(&s->payload, "text");
    put_wide(&s->payload, "wide", true);
    put_u64(&s->payload, 0x1000);
    assert_string_equal(printed(s, "%.2f%% %c %s %ls %p"), "0.50% c text wide 0x1000");
}

static void widths_and_precisions_are_kept_to(void **state)
{
    struct state *s = *state;

    put_u32(&s->payload, 7);
    put_u32(&s->payload, 7);
    put_text(&s->payload, "abc");
    put_text(&s->payload, "abc");
    put_text(&s->payload, "abc");
    assert_string_equal(printed(s, "%03d|%-3d|%5s|%-5s|%.2s|"), "007|7  |  abc|abc  |ab|");
    assert_int_equal(strlen(printed(s, "%999999999d")), 255);
}

/* Also of one that the text has only the beginning of. */
static void what_a_text_replaces_of_an_argument_stands_behind_it(void **state)
{
    static const uint16_t lone[] = {'a', 0xD800, 0};
    struct state *s = *state;

    put_text(&s->payload, "ab\xE9");
    put_text(&s->payload, "ab\xE9");
    put_bytes(&s->payload, lone, sizeof lone);
    put_u8(&s->payload, 0xFF);
    put_text(&s->payload, "gr\xC3\xBC\xC3\x9F");
    put_text(&s->payload, "\xC3\xBC");
    assert_string_equal(printed(s, "%s|%.2s|%ls|%c|%s|%.1s"),
                        "ab\xEF\xBF\xBD [not UTF-8: 6162E9]|ab [not UTF-8: 6162E9]|"
                        "a\xEF\xBF\xBD [not UTF-16: 610000D8]|\xEF\xBF\xBD [not UTF-8: FF]|"
                        "gr\xC3\xBC\xC3\x9F|\xEF\xBF\xBD");
}

/* The arguments end: what is missing is marked, and nothing behind them is read. */
static void a_payload_cut_anywhere_has_its_whole_arguments(void **state)
{
    struct state *s = *state;
    char rest[sizeof s->rest];
    size_t bytes;

    put_u32(&s->payload, 1);
    put_text(&s->payload, "ab");
    put_u64(&s->payload, 2);
    bytes = s->payload.count;
    assert_string_equal(printed(s, "%d %s %lld"), "1 ab 2");
    assert_string_equal(s->rest, "");
    for (s->payload.count = 0; s->payload.count < bytes; s->payload.count++) {
        size_t count = s->payload.count;

        assert_string_equal(printed(s, "%d %s %lld"), count < 4    ? "… … …"
                                                      : count == 4 ? "1 … …"
                                                      : count == 5 ? "1 a …"
                                                                   : "1 ab …");
        snprintf(rest, sizeof rest, "truncated %d, %zu", 1 + (count >= 4) + (count > 4),
                 count < 4    ? count
                 : count <= 7 ? 0
                              : count - 7);
        assert_string_equal(s->rest, rest);
    }
}

static void what_follows_the_last_argument_is_given(void **state)
{
    struct state *s = *state;

    put_u32(&s->payload, 1);
    put_text(&s->payload, "ab");
    assert_string_equal(printed(s, "%d"), "1");
    assert_string_equal(s->rest, "trailing 3");
    assert_string_equal(printed(s, "none at 100%%"), "none at 100%");
    assert_string_equal(s->rest, "trailing 7");
    assert_string_equal(printed(s, "%d%s"), "1ab");
    assert_string_equal(s->rest, "");
}

/* A format is of a file: nothing of it is taken for an address or a count. */
static void what_is_no_conversion_ends_the_arguments(void **state)
{
    struct state *s = *state;

    put_u32(&s->payload, 1);
    put_u32(&s->payload, 2);
    assert_string_equal(printed(s, "%d %n %d"), "1 …n …");
    assert_string_equal(s->rest, "truncated 2, 4");
    assert_string_equal(printed(s, "%*d"), "…*d");
    assert_string_equal(printed(s, "%"), "…");
    assert_string_equal(printed(s, "%ll"), "…");
}

static void a_format_is_checked_and_may_be_replaced(void **state)
{
    struct state *s = *state;
    struct etwas_etl_message_format head = {.version = 1, .number = 5, .guid = guid};
    struct blob blob = {.count = 0};
    EVENT_RECORD record = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE}};

    assert_string_equal(printed(s, "one"), "one");
    assert_string_equal(printed(s, "two"), "two");
    assert_string_equal(message_of(s, &record), ""); /* another message */
    record.UserData = &head;
    record.UserDataLength = sizeof head;
    keep_rest(s, &record);
    assert_string_equal(s->rest, "");
    put_bytes(&blob, &head, sizeof head);
    put_bytes(&blob, "abc", 3);
    for (size_t count = 0; count <= blob.count; count++) {
        assert_int_equal(learn_bytes(s->decoder, blob.bytes, count), ERROR_INVALID_DATA);
    }
    put_u8(&blob, 0);
    blob.bytes[0] = 2; /* another version */
    assert_int_equal(learn_bytes(s->decoder, blob.bytes, blob.count), ERROR_INVALID_DATA);
}

static void a_format_learned_ahead_leaves_the_first(void **state)
{
    struct state *s = *state;

    learning = etwas_decoder_learn_ahead;
    assert_string_equal(printed(s, "first"), "first");
    assert_string_equal(printed(s, "second"), "first");
    learning = etwas_decoder_learn;
    assert_string_equal(printed(s, "second"), "second");
}

struct described {
    const EVENT_PROPERTY_INFO *fields;
    size_t field_count;
    const void *payload;
    size_t payload_bytes;
};

/* The message of an event that is described by these fields. */
static const char *inserted_of(struct state *s, const char *message,
                               const struct described *described)
{
    struct etwas_info_builder builder;
    TRACE_EVENT_INFO *info;
    size_t bytes;
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = etwas_etl_metadata_class,
                        .EventDescriptor = {.Opcode = ETWAS_ETL_EVENT_INFO_TYPE}},
    };
    const char *text;

    etwas_builder_begin(&builder);
    builder.head.ProviderGuid = guid;
    builder.head.EventMessageOffset = etwas_builder_add_string(&builder, message, strlen(message));
    for (size_t i = 0; i < described->field_count; i++) {
        etwas_builder_property(&builder, ETWAS_BUILDER_TOP, &described->fields[i]);
    }
    assert_int_equal(etwas_builder_end(&builder, &info, &bytes), ERROR_SUCCESS);
    record.UserData = info;
    record.UserDataLength = (uint16_t)bytes;
    assert_int_equal(etwas_decoder_learn(s->decoder, &record), ERROR_SUCCESS);
    record = (EVENT_RECORD){.EventHeader = {.ProviderId = guid},
                            .UserData = (void *)(uintptr_t)described->payload,
                            .UserDataLength = (uint16_t)described->payload_bytes};
    text = message_of(s, &record);
    free(info);
    return text;
}

static const char *inserted(struct state *s, const char *message)
{
    static const EVENT_PROPERTY_INFO fields[] = {
        {.nonStructType.InType = TDH_INTYPE_UINT8},
        {.nonStructType.InType = TDH_INTYPE_UINT8, .count = 2},
    };

    return inserted_of(s, message, &(struct described){fields, 2, "\7\10\11", 3});
}

static void fields_are_put_into_an_events_message(void **state)
{
    struct state *s = *state;

    assert_string_equal(inserted(s, "first %1, second %2!s!."), "first 7, second 8, 9.");
    assert_string_equal(inserted(s, "%1%%%t%n%.%0 behind"), "7%\t\n.");
    assert_string_equal(inserted(s, "no %3, no %99!d! either"), "no %3, no %99!d! either");
    assert_string_equal(inserted(s, "at its end: %"), "at its end: ");
    assert_string_equal(inserted(s, "unclosed %1!d"), "unclosed 7!d");
}

static void inserts_are_shown_as_their_conversions_say(void **state)
{
    static const EVENT_PROPERTY_INFO fields[] = {
        {.nonStructType.InType = TDH_INTYPE_INT16},
        {.nonStructType.InType = TDH_INTYPE_FLOAT},
        {.nonStructType.InType = TDH_INTYPE_ANSISTRING},
        {.nonStructType.InType = TDH_INTYPE_UINT8, .count = 2},
        {.nonStructType.InType = TDH_INTYPE_BOOLEAN},
    };
    static const uint8_t payload[] = "\xfb\xff\0\0\xc0\x3fh\xc3\xa9llo\0\x0a\x0b\1\0\0";
    const struct described event = {fields, 5, payload, sizeof payload};
    struct state *s = *state;

#define SHOWN(message, text) assert_string_equal(inserted_of(s, message, &event), text)
    SHOWN("%1!d! %1!5d!|%1!-5d!|%1!05d!|%1!+d!", "-5    -5|-5   |-0005|-5");
    SHOWN("%1!x! %1!#06X! %1!hu! %1!I64d! %1!lld!", "fffb 0XFFFB 65531 -5 -5");
    SHOWN("%2!.3f! %2!e! %2!d!", "1.500 1.500000e+00 1.5");
    SHOWN("%3!s!|%3!8s!|%3!-8S!|%3!.2s!|%3!4.1ls!|%3!d!", "héllo|  héllo|héllo  |hé|   h|héllo");
    SHOWN("%4!02x!", "0a, 0b");
    SHOWN("%5!s! %5!d!", "true 1");
    /* What says nothing shows the field as it is. */
    SHOWN("%1!! %1!*d! %1!n! %1!ü! %1!00000000000000000000000000000000000000000000001d!",
          "-5 -5 -5 -5 -5");
    SHOWN("%9!d! %1!d", "%9!d! -5!d");
    assert_int_equal(strlen(inserted_of(s, "%1!999999999d!%3!9999s!", &event)), 2 * 255);
#undef SHOWN
}

/* Each insert goes through the event: together no further than so. */
static void inserts_are_bounded(void **state)
{
    enum {
        INSERTS = 6000,
    };
    static const EVENT_PROPERTY_INFO fields[] = {{.nonStructType.InType = TDH_INTYPE_ANSISTRING}};
    static char message[2 * INSERTS + 1];
    static char payload[60001];
    const struct described event = {fields, 1, payload, sizeof payload};
    struct state *s = *state;

    memset(payload, 'x', sizeof payload - 1);
    for (size_t i = 0; i < INSERTS; i++) {
        memcpy(message + 2 * i, "%1", 2);
    }
    inserted_of(s, message, &event);
    assert_true(s->length > 10 * sizeof payload && s->length < 20 * sizeof payload);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_state, close_state)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_conversion_takes_its_argument),
        TEST(widths_and_precisions_are_kept_to),
        TEST(a_payload_cut_anywhere_has_its_whole_arguments),
        TEST(what_follows_the_last_argument_is_given),
        TEST(what_is_no_conversion_ends_the_arguments),
        TEST(what_a_text_replaces_of_an_argument_stands_behind_it),
        TEST(a_format_is_checked_and_may_be_replaced),
        TEST(a_format_learned_ahead_leaves_the_first),
        TEST(fields_are_put_into_an_events_message),
        TEST(inserts_are_shown_as_their_conversions_say),
        TEST(inserts_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
