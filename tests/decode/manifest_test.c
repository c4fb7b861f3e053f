/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What manifests say, as it is written into traces: names, fields, maps; and senseless ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shown.h"

static const etwas_guid shop = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};

#define BEFORE                                                                                     \
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"            \
    "<instrumentation><events>"                                                                    \
    "<provider name='Shop' guid='{01234567-89ab-cdef-0102-030405060708}' symbol='Shop'>"
#define BETWEEN "</provider></events></instrumentation>"
#define BEHIND "</instrumentationManifest>"

static int open_decoder(void **state)
{
    etwas_decoder *decoder;

    assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
    *state = decoder;
    return 0;
}

static int close_decoder(void **state)
{
    etwas_decoder_close(*state);
    return 0;
}

static uint32_t learn_document(etwas_decoder *decoder, const char *xml)
{
    return learn_manifest(decoder, &shop, xml, strlen(xml), 32000);
}

/* What stands inside the element `provider`. */
static uint32_t learn(etwas_decoder *decoder, const char *inside)
{
    char *xml = malloc(strlen(inside) + sizeof BEFORE BETWEEN BEHIND);
    uint32_t error;

    assert_non_null(xml);
    sprintf(xml, "%s%s%s", BEFORE, inside, BETWEEN BEHIND);
    error = learn_document(decoder, xml);
    free(xml);
    return error;
}

static EVENT_RECORD event(uint16_t id, uint8_t version, const void *payload, size_t bytes)
{
    return (EVENT_RECORD){
        .EventHeader =
            {
                .Flags = EVENT_HEADER_FLAG_64_BIT_HEADER,
                .ProviderId = shop,
                .EventDescriptor = {.Id = id, .Version = version},
            },
        .UserData = (void *)(uintptr_t)payload,
        .UserDataLength = (uint16_t)bytes,
    };
}

static const char *shown_event(etwas_decoder *decoder, uint16_t id, const void *payload,
                               size_t bytes)
{
    EVENT_RECORD record = event(id, 0, payload, bytes);

    return shown(decoder, &record);
}

#define SHOWN(decoder, id, payload) shown_event(decoder, id, payload, sizeof(payload) - 1)

static const etwas_schema *schema_of(etwas_decoder *decoder, uint16_t id)
{
    EVENT_RECORD record = event(id, 0, "", 0);
    const etwas_schema *schema;

    assert_int_equal(etwas_decoder_schema(decoder, &record, &schema), ERROR_SUCCESS);
    return schema;
}

/* A string of the schema's information, as ASCII. */
static const char *string_at(const etwas_schema *schema, uint32_t offset)
{
    static char text[256];
    const etwas_wchar *units = (const void *)((const uint8_t *)schema->info + offset);
    size_t i = 0;

    if (offset == 0) {
        return "(none)";
    }
    for (; units[i] != 0; i++) {
        assert_true(i + 1 < sizeof text && units[i] < 0x80);
        text[i] = (char)units[i];
    }
    text[i] = 0;
    return text;
}

/* ---- the dialect of .NET's EventSource ------------------------------------------------------- */

#define EVENT_SOURCE                                                                               \
    "<tasks>"                                                                                      \
    " <task name='Sold' message='$(string.task_Sold)' value='65533'/>"                             \
    "</tasks>"                                                                                     \
    "<opcodes/>"                                                                                   \
    "<maps><valueMap name='Payment'>"                                                              \
    " <map value='0x0' message='$(string.map_PaymentCash)'/>"                                      \
    " <map value='0x1' message='$(string.map_PaymentCard)'/>"                                      \
    "</valueMap></maps>"                                                                           \
    "<events>"                                                                                     \
    " <event value='1' version='0' level='win:Informational' symbol='Sold'"                        \
    "  message='$(string.event_Sold)' keywords='' task='Sold' template='SoldArgs'/>"               \
    " <event value='2' version='0' level='win:LogAlways' symbol='Closed'/>"                        \
    "</events>"                                                                                    \
    "<templates><template tid='SoldArgs'>"                                                         \
    " <data name='item' inType='win:UnicodeString'/>"                                              \
    " <data name='count' inType='win:Int32'/>"                                                     \
    " <data name='new' inType='win:Boolean'/>"                                                     \
    " <data name='payment' inType='win:UInt32' map='Payment'/>"                                    \
    " <data name='price' inType='win:Double'/>"                                                    \
    " <data name='receiptSize' inType='win:UInt32'/>"                                              \
    " <data name='receipt' inType='win:Binary' length='receiptSize'/>"                             \
    " <data name='key' inType='win:Pointer'/>"                                                     \
    "</template></templates>"
#define ENGLISH                                                                                    \
    "<localization><resources culture='en-US'><stringTable>"                                       \
    " <string id='task_Sold' value='Sold'/>"                                                       \
    " <string id='event_Sold' value='%2 of %1 sold'/>"                                             \
    " <string id='map_PaymentCash' value='Cash'/>"                                                 \
    " <string id='map_PaymentCard' value='Card'/>"                                                 \
    "</stringTable></resources></localization>"
#define EVENT_SOURCE_DOCUMENT BEFORE EVENT_SOURCE BETWEEN ENGLISH BEHIND

static const char sold[] = "A\0\0\0"          /* item */
                           "\xfe\xff\xff\xff" /* count */
                           "\1\0\0\0"         /* new */
                           "\1\0\0\0"         /* payment */
                           "\0\0\0\0\0\0\xf8\x3f"
                           "\3\0\0\0"
                           "\1\2\3"
                           "\xef\xbe\xad\xde\0\0\0";

static void an_event_source_describes_its_events(void **state)
{
    const etwas_schema *schema;

    assert_int_equal(learn_document(*state, EVENT_SOURCE_DOCUMENT), ERROR_SUCCESS);
    assert_string_equal(shown_event(*state, 1, sold, sizeof sold),
                        "Shop/Sold item=\"A\" count=-2 new=true payment=Card price=1.5 "
                        "receiptSize=3 receipt=010203 key=0xDEADBEEF");
    assert_string_equal(SHOWN(*state, 2, ""), "Shop/Closed");
    assert_string_equal(SHOWN(*state, 3, ""), "(none)");
    schema = schema_of(*state, 1);
    assert_int_equal(schema->info->DecodingSource, DecodingSourceXMLFile);
    assert_memory_equal(&schema->info->ProviderGuid, &shop, sizeof shop);
    assert_int_equal(schema->info->EventDescriptor.Task, 65533);
    assert_int_equal(schema->info->EventDescriptor.Level, 4);
    assert_string_equal(string_at(schema, schema->info->LevelNameOffset), "Information");
    assert_string_equal(string_at(schema, schema->info->EventMessageOffset), "%2 of %1 sold");
}

static bool count_schema(const etwas_schema *schema, void *count)
{
    assert_string_equal(schema->provider, "Shop");
    ++*(size_t *)count;
    return true;
}

static void events_that_never_came_are_known_too(void **state)
{
    size_t count = 0;

    assert_int_equal(learn_document(*state, EVENT_SOURCE_DOCUMENT), ERROR_SUCCESS);
    assert_int_equal(etwas_decoder_schemas(*state, count_schema, &count), ERROR_SUCCESS);
    assert_int_equal(count, 2);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

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

static bool is_known(etwas_decoder *decoder)
{
    return strcmp(shown_event(decoder, 2, "", 0), "Shop/Closed") == 0;
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

    assert_int_equal(learn(*state,
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

/* ---- names ----------------------------------------------------------------------------------- */

static void events_are_called_by_name_or_task_and_opcode_or_symbol(void **state)
{
    const etwas_schema *schema;

    assert_int_equal(learn(*state, "<tasks><task name='Sale' value='3'"
                                   " eventGUID='{00000001-0002-0003-0405-060708090a0b}'><opcodes>"
                                   "<opcode name='Begin' value='20' message='Begun'/>"
                                   "</opcodes></task><task name='Other' value='4'"
                                   " message='$(mc.other)'/></tasks>"
                                   "<opcodes><opcode name='Begin' value='30'/></opcodes>"
                                   "<events>"
                                   "<event value='1' symbol='sym1' task='Sale' opcode='Begin'/>"
                                   "<event value='2' symbol='sym2' task='Other' opcode='Begin'/>"
                                   "<event value='3' symbol='sym3' task='Sale' opcode='win:Stop'/>"
                                   "<event value='4' symbol='sym4' task='Sale' opcode='win:Info'/>"
                                   "<event value='5' symbol='sym5' task='Sale'/>"
                                   "<event value='6' symbol='sym6'/>"
                                   "<event value='7' symbol='sym7' task='Sale' name='N7'"
                                   " attributes='A=B'/>"
                                   "<event value='8' symbol='sym8' task='Undeclared'/>"
                                   "</events>"),
                     ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, ""), "Shop/Sale/Begun");
    assert_string_equal(SHOWN(*state, 2, ""), "Shop/Other/Begin");
    assert_string_equal(SHOWN(*state, 3, ""), "Shop/Sale/Stop");
    assert_string_equal(SHOWN(*state, 4, ""), "Shop/Sale");
    assert_string_equal(SHOWN(*state, 5, ""), "Shop/Sale");
    assert_string_equal(SHOWN(*state, 6, ""), "Shop/sym6");
    assert_string_equal(SHOWN(*state, 7, ""), "Shop/N7");
    assert_string_equal(SHOWN(*state, 8, ""), "Shop/Undeclared");
    assert_int_equal(schema_of(*state, 1)->info->EventDescriptor.Opcode, 20);
    assert_int_equal(schema_of(*state, 2)->info->EventDescriptor.Opcode, 30);
    assert_int_equal(schema_of(*state, 3)->info->EventDescriptor.Opcode, 2);
    assert_int_equal(schema_of(*state, 3)->info->EventDescriptor.Task, 3);
    assert_int_equal(schema_of(*state, 1)->info->EventGuid.Data1, 1);
    assert_int_equal(schema_of(*state, 1)->info->EventGuid.Data4[7], 0x0b);
    assert_int_equal(schema_of(*state, 2)->info->EventGuid.Data1, 0);
    schema = schema_of(*state, 7);
    assert_string_equal(string_at(schema, schema->info->EventAttributesOffset), "A=B");
}

static void keywords_levels_and_channels_have_values_and_names(void **state)
{
    const etwas_schema *schema;
    const TRACE_EVENT_INFO *info;
    uint32_t second;

    assert_int_equal(
        learn(*state, "<channels><importChannel chid='sys' name='System' value='8'/>"
                      "<channel name='Shop/Main' chid='main'/>"
                      "<channel name='Shop/Debug' chid='debug'/></channels>"
                      "<levels><level name='Chatty' value='20' message='Talks a lot'/></levels>"
                      "<keywords><keyword name='Money' mask='0x10'/>"
                      "<keyword name='Goods' mask='0x8000000000000000'/></keywords>"
                      "<events><event value='1' symbol='e' level='Chatty' channel='debug'"
                      " keywords=' Money&#10;win:SQM Goods '/></events>"),
        ERROR_SUCCESS);
    schema = schema_of(*state, 1);
    info = schema->info;
    assert_int_equal(info->EventDescriptor.Level, 20);
    assert_string_equal(string_at(schema, info->LevelNameOffset), "Talks a lot");
    assert_int_equal(info->EventDescriptor.Channel, 17);
    assert_string_equal(string_at(schema, info->ChannelNameOffset), "Shop/Debug");
    assert_true(info->EventDescriptor.Keyword == 0x8008000000000010);
    assert_string_equal(string_at(schema, info->KeywordsNameOffset), "Money");
    second = info->KeywordsNameOffset + sizeof u"Money";
    assert_string_equal(string_at(schema, second), "SQM");
    assert_string_equal(string_at(schema, second + sizeof u"SQM"), "Goods");
    assert_string_equal(string_at(schema, second + sizeof u"SQMGoods" + 2), "");
}

static void messages_are_english_where_they_can_be(void **state)
{
    static const char *const document[] = {
        BEFORE "<events><event value='1' symbol='e' message='$(string.e)'/>"
               "<event value='2' symbol='e' message='plain'/>"
               "<event value='3' symbol='e' message='$(string.nowhere)'/></events>" //
        BETWEEN "<localization>",
        "<resources culture='de-DE'><stringTable><string id='e' value='Ware'/></stringTable>"
        "</resources>",
        "<resources culture='en-GB'><stringTable><string id='e' value='goods'/></stringTable>"
        "</resources>",
        "<resources culture='en-US'><stringTable><string id='e' value='stuff'/></stringTable>"
        "</resources>",
        "</localization>" BEHIND,
    };
    static const char *const expected[] = {"Ware", "goods", "stuff"};

    for (size_t i = 0; i < 3; i++) {
        char xml[4096];
        const etwas_schema *schema;

        sprintf(xml, "%s%s%s%s%s", document[0], document[1], i > 0 ? document[2] : "",
                i > 1 ? document[3] : "", document[4]);
        assert_int_equal(learn_document(*state, xml), ERROR_SUCCESS);
        schema = schema_of(*state, 1);
        assert_string_equal(string_at(schema, schema->info->EventMessageOffset), expected[i]);
        schema = schema_of(*state, 2);
        assert_string_equal(string_at(schema, schema->info->EventMessageOffset), "plain");
        assert_int_equal(schema_of(*state, 3)->info->EventMessageOffset, 0);
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void fields_have_counts_and_lengths_of_their_own_or_of_fields(void **state)
{
    assert_int_equal(
        learn(*state, "<templates><template tid='t'>"
                      "<data name='n' inType='win:UInt8'/>"
                      "<data name='pair' inType='win:UInt16' outType='win:HexInt16' count='2'/>"
                      "<data name='list' inType='win:UInt8' count='n'/>"
                      "<data name='text' inType='win:AnsiString' length='3'/>"
                      "<data name='texts' inType='win:AnsiString' count='n' length='n'/>"
                      "<data name='all' inType='win:AnsiString'/>"
                      "</template></templates>"
                      "<events><event value='1' symbol='e' template='t'/></events>"),
        ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1,
                              "\2"
                              "\1\0\x0c\0"
                              "\7\x8"
                              "abc"
                              "cdef"
                              "g"),
                        "Shop/e n=2 pair=[0x1,0xC] list=[7,8] text=\"abc\" "
                        "texts=[\"cd\",\"ef\"] all=\"g\"");
    assert_string_equal(SHOWN(*state, 1,
                              "\0"
                              "\1\0\x0c\0"
                              "abc"
                              "\0"
                              "rest"),
                        "Shop/e n=0 pair=[0x1,0xC] list=[] text=\"abc\" texts=[] all=\"\" +4");
    assert_string_equal(SHOWN(*state, 1,
                              "\2"
                              "\1\0\x0c"),
                        "Shop/e n=2 pair=[0x1,…1]");
}

/* A member's count is first looked for in its own struct. */
static void members_are_counted_by_members_and_by_fields(void **state)
{
    assert_int_equal(learn(*state, "<templates><template tid='t'>"
                                   "<data name='n' inType='win:UInt8'/>"
                                   "<data name='m' inType='win:UInt8'/>"
                                   "<struct name='s' count='n'>"
                                   " <data name='m' inType='win:UInt8'/>"
                                   " <data name='a' inType='win:UInt8' count='m'/>"
                                   " <data name='b' inType='win:UInt8' count='n'/>"
                                   "</struct>"
                                   "<data name='c' inType='win:UInt8' count='m'/>"
                                   "</template></templates>"
                                   "<events><event value='1' symbol='e' template='t'/></events>"),
                     ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1,
                              "\2\1"
                              "\1\x0b\x0c\x0d"
                              "\0\x0e\x0f"
                              "\x10"),
                        "Shop/e n=2 m=1 s=[{m=1 a=[11] b=[12,13]},{m=0 a=[] b=[14,15]}] c=[16]");
}

static void maps_name_values_and_bits(void **state)
{
    assert_int_equal(learn(*state, "<maps>"
                                   "<valueMap name='colour'><map value='1' message='red'/>"
                                   "<map value='0xff' message='blue'/></valueMap>"
                                   "<bitMap name='bits'><map value='0x1' message='one'/>"
                                   "<map value='0x4' message='four'/></bitMap>"
                                   "</maps><templates><template tid='t'>"
                                   "<data name='c' inType='win:UInt8' map='colour'/>"
                                   "<data name='b' inType='win:UInt16' map='bits'/>"
                                   "<data name='u' inType='win:UInt8' map='nowhere'/>"
                                   "</template></templates>"
                                   "<events><event value='1' symbol='e' template='t'/></events>"),
                     ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, "\xff\5\0\7"), "Shop/e c=blue b=one|four u=7");
    assert_string_equal(SHOWN(*state, 1, "\1\6\0\7"), "Shop/e c=red b=four|0x2 u=7");
    assert_string_equal(SHOWN(*state, 1, "\2\0\0\7"), "Shop/e c=2 b=0 u=7");
}

/* Every type of both tables is known. */
static void each_type_is_read(void **state)
{
    static const struct {
        const char *attributes;
        const char *payload;
        size_t bytes;
        const char *shown;
    } types[] = {
#define TYPE(attributes, payload, shown) {attributes, payload, sizeof(payload) - 1, shown}
        TYPE("inType='win:UnicodeString'", "a\0b\0\0\0", "\"ab\""),
        TYPE("inType='win:AnsiString' outType='win:Utf8'", "\xc3\xa4", "\"ä\""),
        TYPE("inType='win:Int8'", "\xff", "-1"),
        TYPE("inType='win:UInt8'", "\xff", "255"),
        TYPE("inType='win:UInt8' outType='win:HexInt8'", "\xff", "0xFF"),
        TYPE("inType='win:Int16'", "\xff\xff", "-1"),
        TYPE("inType='win:UInt16'", "\1\1", "257"),
        TYPE("inType='win:UInt16' outType='win:Port'", "\1\2", "258"),
        TYPE("inType='win:Int32'", "\xfe\xff\xff\xff", "-2"),
        TYPE("inType='win:UInt32'", "\0\1\0\0", "256"),
        TYPE("inType='win:UInt32' outType='win:IPv4'", "\x7f\0\0\1", "127.0.0.1"),
        TYPE("inType='win:Int64'", "\xfe\xff\xff\xff\xff\xff\xff\xff", "-2"),
        TYPE("inType='win:UInt64'", "\0\0\0\0\1\0\0\0", "4294967296"),
        TYPE("inType='win:Float'", "\0\0\xc0\x3f", "1.5"),
        TYPE("inType='win:Double'", "\0\0\0\0\0\0\xf8\x3f", "1.5"),
        TYPE("inType='win:Boolean'", "\0\0\0\0", "false"),
        TYPE("inType='win:Binary' length='2'", "\xab\x12", "AB12"),
        TYPE("inType='win:GUID'", "\1\0\0\0\2\0\3\0\4\5\6\7\x8\x9\xa\xb",
             "{00000001-0002-0003-0405-060708090a0b}"),
        TYPE("inType='win:Pointer'", "\x10\0\0\0\0\0\0\0", "0x10"),
        TYPE("inType='win:FILETIME'", "\0\0\0\0\0\0\0\0", "1601-01-01T00:00:00.0000000"),
        TYPE("inType='win:SYSTEMTIME'", "\xe5\7\x9\0\4\0\x9\0\xe\0\x3b\0\x23\0\x1f\3",
             "2021-09-09T14:59:35.799"),
        TYPE("inType='win:SID'", "\1\2\0\0\0\0\0\5\x20\0\0\0\x20\2\0\0", "S-1-5-32-544"),
        TYPE("inType='win:HexInt32'", "\xef\xbe\xad\xde", "0xDEADBEEF"),
        TYPE("inType='win:HexInt64'", "\1\0\0\0\0\0\0\0", "0x1"),
        TYPE("inType='win:CountedUnicodeString'", "\2\0a\0", "\"a\""),
        TYPE("inType='win:CountedAnsiString'", "\2\0ab", "\"ab\""),
        TYPE("inType='win:CountedBinary'", "\2\0\1\2", "0102"),
#undef TYPE
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char inside[1024];
        char expected[256];

        sprintf(inside,
                "<templates><template tid='t'><data name='x' %s/></template></templates>"
                "<events><event value='%zu' symbol='e' template='t'/></events>",
                types[i].attributes, i);
        assert_int_equal(learn(*state, inside), ERROR_SUCCESS);
        sprintf(expected, "Shop/e x=%s", types[i].shown);
        assert_string_equal(shown_event(*state, (uint16_t)i, types[i].payload, types[i].bytes),
                            expected);
    }
}

/* As TDH has it: of strings 0, of binary data what the template says. */
static void a_type_of_one_size_has_it_as_its_length(void **state)
{
    static const struct {
        const char *attributes;
        uint16_t length;
    } types[] = {{"inType='win:UInt16'", 2},
                 {"inType='win:Boolean'", 4},
                 {"inType='win:Pointer'", 8},
                 {"inType='win:SYSTEMTIME'", 16},
                 {"inType='win:AnsiString'", 0},
                 {"inType='win:UInt32' count='3'", 4},
                 {"inType='win:SID'", 0},
                 {"inType='win:CountedBinary'", 0},
                 {"inType='win:Binary' length='3'", 3}};

    for (uint16_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char inside[1024];

        sprintf(inside,
                "<templates><template tid='t'><data name='x' %s/></template></templates>"
                "<events><event value='%u' symbol='e' template='t'/></events>",
                types[i].attributes, i);
        assert_int_equal(learn(*state, inside), ERROR_SUCCESS);
        assert_int_equal(schema_of(*state, i)->info->EventPropertyInfoArray[0].length,
                         types[i].length);
    }
}

static void user_data_only_says_how_fields_are_shown(void **state)
{
    assert_int_equal(learn(*state,
                           "<templates><template tid='t'><data name='x' inType='win:UInt8'/>"
                           "<UserData><Own xmlns='mine'><data name='y' inType='win:UInt8'>%1</data>"
                           "</Own></UserData></template></templates>"
                           "<events><event value='1' symbol='e' template='t'/></events>"),
                     ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, "\1"), "Shop/e x=1");
    assert_int_equal(schema_of(*state, 1)->info->Flags, TEMPLATE_EVENT_DATA | TEMPLATE_USER_DATA);
}

/* ---- what makes no sense --------------------------------------------------------------------- */

static void entities_are_refused(void **state)
{
    assert_int_equal(learn_document(*state,
                                    "<!DOCTYPE lolz [<!ENTITY lol 'lol'>"
                                    "<!ENTITY lol2 '&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;'>]>" //
                                    EVENT_SOURCE_DOCUMENT),
                     ERROR_INVALID_DATA);
    assert_int_equal(learn_document(*state, "<!DOCTYPE x SYSTEM 'file:///etc/passwd'>" //
                                    EVENT_SOURCE_DOCUMENT),
                     ERROR_INVALID_DATA);
    assert_false(is_known(*state));
}

static void what_is_no_manifest_is_refused(void **state)
{
    static const char *const documents[] = {
        "",
        "plain text",
        "<html/>",
        BEHIND,
        BEFORE,
        BEFORE BETWEEN,
        "<instrumentationManifest/>",
        "<instrumentationManifest><instrumentation><events><provider name='x'/></events>"
        "</instrumentation></instrumentationManifest>",
        "<instrumentationManifest><instrumentation><events><provider name='x' guid='{0}'/>"
        "</events></instrumentation></instrumentationManifest>",
        BEFORE "\xff\xfe" BETWEEN BEHIND,
    };

    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        const char *xml = documents[i][0] == 0 ? " " : documents[i];

        assert_int_equal(learn_document(*state, xml), ERROR_INVALID_DATA);
    }
}

static void elements_must_not_nest_without_end(void **state)
{
    static char deep[8192] = BEFORE;
    size_t length = strlen(deep);

    for (int i = 0; i < 500; i++) {
        length += (size_t)sprintf(deep + length, "<a>");
    }
    for (int i = 0; i < 500; i++) {
        length += (size_t)sprintf(deep + length, "</a>");
    }
    strcpy(deep + length, BETWEEN BEHIND);
    assert_int_equal(learn_document(*state, deep), ERROR_INVALID_DATA);
}

/* Those of which nothing can be said; the event beside them is known. */
static void events_whose_template_makes_no_sense_are_left_out(void **state)
{
    static const char *const fields[] = {
        "<data name='x'/>",
        "<data name='x' inType='win:Unknown'/>",
        "<data name='x' inType='win:UInt8' count='later'/><data name='later' inType='win:UInt8'/>",
        "<data name='x' inType='win:UInt8' count='x'/>",
        "<data name='x' inType='win:UInt8' count='65536'/>",
        "<data name='x' inType='win:UInt8' count=''/>",
        "<data name='x' inType='win:Binary' length='-1'/>",
        "<data name='t' inType='win:UnicodeString'/><data name='x' inType='win:UInt8' count='t'/>",
        ("<struct name='s'><data name='n' inType='win:UInt8'/></struct>"
         "<data name='x' inType='win:UInt8' count='n'/>"),
        "<struct name='s' count='nowhere'><data name='x' inType='win:UInt8'/></struct>",
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char inside[1024];

        sprintf(inside,
                "<templates><template tid='t'>%s</template></templates><events>"
                "<event value='1' symbol='bad' template='t'/>"
                "<event value='3' symbol='bad' template='nowhere'/>"
                "<event value='65536' symbol='bad'/><event value='' symbol='bad'/>"
                "<event symbol='bad'/><event value='4x' symbol='bad'/>"
                "<event value='2' symbol='Closed'/></events>",
                fields[i]);
        assert_int_equal(learn(*state, inside), ERROR_SUCCESS);
        assert_string_equal(SHOWN(*state, 1, "\1"), "(none)");
        assert_string_equal(SHOWN(*state, 3, "\1"), "(none)");
        assert_string_equal(SHOWN(*state, 4, "\1"), "(none)");
        assert_true(is_known(*state));
    }
}

static void fields_of_a_template_are_bounded(void **state)
{
    char *inside = malloc(1 << 20);
    size_t length = (size_t)sprintf(inside, "<templates><template tid='t'>");

    for (int i = 0; i < 513; i++) {
        length += (size_t)sprintf(inside + length, "<data name='x%d' inType='win:UInt8'/>", i);
    }
    sprintf(inside + length, "</template></templates>"
                             "<events><event value='1' symbol='bad' template='t'/>"
                             "<event value='2' symbol='Closed'/></events>");
    assert_int_equal(learn(*state, inside), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, "\1"), "(none)");
    assert_true(is_known(*state));
    free(inside);
}

static void the_first_of_two_things_of_one_name_is_meant(void **state)
{
    assert_int_equal(
        learn(*state, "<templates><template tid='t'><data name='x' inType='win:UInt8'/></template>"
                      "<template tid='t'><data name='y' inType='win:UInt16'/></template>"
                      "</templates>"
                      "<events><event value='1' symbol='e' template='t'/></events>"),
        ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, "\1"), "Shop/e x=1");
}

/* Few words that many events share must not become much. */
static void what_is_made_of_manifests_is_bounded(void **state)
{
    enum {
        MESSAGE = 1 << 20,
        EVENTS = 100,
    };
    char *xml = malloc(2 * MESSAGE);
    size_t length = (size_t)sprintf(xml, BEFORE "<events>");

    for (int i = 0; i < EVENTS; i++) {
        length += (size_t)sprintf(xml + length, "<event value='%d' message='$(string.m)'/>", i);
    }
    length += (size_t)sprintf(xml + length, "</events>" BETWEEN "<localization><resources>"
                                            "<stringTable><string id='m' value='");
    memset(xml + length, 'x', MESSAGE);
    length += MESSAGE;
    length += (size_t)sprintf(xml + length, "'/></stringTable></resources></localization>" BEHIND);
    assert_int_equal(learn_manifest(*state, &shop, xml, length, 60000), ERROR_INVALID_DATA);
    assert_string_not_equal(SHOWN(*state, 1, ""), "(none)");
    assert_string_equal(SHOWN(*state, EVENTS - 1, ""), "(none)");
    free(xml);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)
    const struct CMUnitTest tests[] = {
        TEST(an_event_source_describes_its_events),
        TEST(events_that_never_came_are_known_too),
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
        TEST(events_are_called_by_name_or_task_and_opcode_or_symbol),
        TEST(keywords_levels_and_channels_have_values_and_names),
        TEST(messages_are_english_where_they_can_be),
        TEST(fields_have_counts_and_lengths_of_their_own_or_of_fields),
        TEST(members_are_counted_by_members_and_by_fields),
        TEST(maps_name_values_and_bits),
        TEST(each_type_is_read),
        TEST(a_type_of_one_size_has_it_as_its_length),
        TEST(user_data_only_says_how_fields_are_shown),
        TEST(entities_are_refused),
        TEST(what_is_no_manifest_is_refused),
        TEST(elements_must_not_nest_without_end),
        TEST(events_whose_template_makes_no_sense_are_left_out),
        TEST(fields_of_a_template_are_bounded),
        TEST(the_first_of_two_things_of_one_name_is_meant),
        TEST(what_is_made_of_manifests_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
