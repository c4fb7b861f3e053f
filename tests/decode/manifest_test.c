/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What manifests say of events, as it is written into traces: names, fields, maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shop.h"

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

/* ---- names ----------------------------------------------------------------------------------- */

static void events_are_called_by_name_or_task_and_opcode_or_symbol(void **state)
{
    const etwas_schema *schema;

    assert_int_equal(learn_inside(*state,
                                  "<tasks><task name='Sale' value='3'"
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
        learn_inside(*state,
                     "<channels><importChannel chid='sys' name='System' value='8'/>"
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
        learn_inside(*state,
                     "<templates><template tid='t'>"
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
    assert_int_equal(learn_inside(*state,
                                  "<templates><template tid='t'>"
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
    assert_int_equal(learn_inside(*state,
                                  "<maps>"
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
        assert_int_equal(learn_inside(*state, inside), ERROR_SUCCESS);
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
        assert_int_equal(learn_inside(*state, inside), ERROR_SUCCESS);
        assert_int_equal(schema_of(*state, i)->info->EventPropertyInfoArray[0].length,
                         types[i].length);
    }
}

static void user_data_only_says_how_fields_are_shown(void **state)
{
    assert_int_equal(
        learn_inside(*state,
                     "<templates><template tid='t'><data name='x' inType='win:UInt8'/>"
                     "<UserData><Own xmlns='mine'><data name='y' inType='win:UInt8'>%1</data>"
                     "</Own></UserData></template></templates>"
                     "<events><event value='1' symbol='e' template='t'/></events>"),
        ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, "\1"), "Shop/e x=1");
    assert_int_equal(schema_of(*state, 1)->info->Flags, TEMPLATE_EVENT_DATA | TEMPLATE_USER_DATA);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)
    const struct CMUnitTest tests[] = {
        TEST(an_event_source_describes_its_events),
        TEST(events_that_never_came_are_known_too),
        TEST(events_are_called_by_name_or_task_and_opcode_or_symbol),
        TEST(keywords_levels_and_channels_have_values_and_names),
        TEST(messages_are_english_where_they_can_be),
        TEST(fields_have_counts_and_lengths_of_their_own_or_of_fields),
        TEST(members_are_counted_by_members_and_by_fields),
        TEST(maps_name_values_and_bits),
        TEST(each_type_is_read),
        TEST(a_type_of_one_size_has_it_as_its_length),
        TEST(user_data_only_says_how_fields_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
