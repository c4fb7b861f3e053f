/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Manifests that make no sense, or want too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shop.h"

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

static const char *left_out(const etwas_decoder *decoder)
{
    static char text[128];
    size_t length = etwas_decoder_left_out(decoder, text, sizeof text);

    assert_int_equal(length, strlen(text));
    assert_int_equal(etwas_decoder_left_out(decoder, NULL, 0), length);
    return text;
}

/* What is known is kept: the event's name, and the fields before the one that is not described. */
static void events_whose_template_makes_no_sense_keep_what_does(void **state)
{
    static const char *const fields[][2] = {
        {"<data name='x'/>", "x=?1"},
        {"<data name='x' inType='win:Unknown'/>", "x=?1"},
        {"<data name='b' inType='win:UInt8'/><data name='x' inType='win:Unknown'/>", "b=1 x=?0"},
        {"<data name='x' inType='win:UInt8' count='later'/><data name='later' inType='win:UInt8'/>",
         "x=?1"},
        {"<data name='x' inType='win:UInt8' count='x'/>", "x=?1"},
        {"<data name='x' inType='win:UInt8' count='65536'/>", "x=?1"},
        {"<data name='x' inType='win:UInt8' count=''/>", "x=?1"},
        {"<data name='x' inType='win:Binary' length='-1'/>", "x=?1"},
        {"<data name='t' inType='win:AnsiString'/><data name='x' inType='win:UInt8' count='t'/>",
         "t=\"\1\" x=?0"},
        {"<struct name='s'><data name='n' inType='win:UInt8'/></struct>"
         "<data name='x' inType='win:UInt8' count='n'/>",
         "s={n=1} x=?0"},
        {"<struct name='s' count='nowhere'><data name='x' inType='win:UInt8'/></struct>", "s=?1"},
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char inside[1024];
        char line[64];

        sprintf(inside,
                "<templates><template tid='t'>%s</template></templates><events>"
                "<event value='1' symbol='bad' template='t'/>"
                "<event value='3' symbol='bad' template='nowhere'/>"
                "<event value='65536' symbol='bad'/><event value='' symbol='bad'/>"
                "<event symbol='bad'/><event value='4x' symbol='bad'/>"
                "<event value='2' symbol='Closed'/></events>",
                fields[i][0]);
        sprintf(line, "Shop/bad %s", fields[i][1]);
        assert_int_equal(learn_inside(*state, inside), ERROR_SUCCESS);
        assert_string_equal(SHOWN(*state, 1, "\1"), line);
        assert_string_equal(SHOWN(*state, 3, "\1"), "Shop/bad ?=?1");
        assert_string_equal(SHOWN(*state, 4, "\1"), "(none)");
        assert_string_equal(left_out(*state), "4 elements, the first is <event> in line 1");
        assert_true(is_known(*state));
    }
}

static void fields_of_a_template_are_bounded(void **state)
{
    char *inside = malloc(1 << 20);
    size_t length = (size_t)sprintf(inside, "<templates><template tid='t'>");
    char bytes[600];

    for (int i = 0; i < 600; i++) {
        length += (size_t)sprintf(inside + length, "<data name='x%d' inType='win:UInt8'/>", i);
    }
    sprintf(inside + length, "</template></templates>"
                             "<events><event value='1' symbol='bad' template='t'/>"
                             "<event value='2' symbol='Closed'/></events>");
    assert_int_equal(learn_inside(*state, inside), ERROR_SUCCESS);
    assert_string_equal(SHOWN(*state, 1, "\1"), "Shop/bad x0=1 x1=…0");
    memset(bytes, 1, sizeof bytes);
    assert_non_null(strstr(SHOWN(*state, 1, bytes), " x511=1 x512=?87"));
    assert_true(is_known(*state));
    free(inside);
}

static void the_first_of_two_things_of_one_name_is_meant(void **state)
{
    assert_int_equal(
        learn_inside(*state,
                     "<templates><template tid='t'><data name='x' inType='win:UInt8'/></template>"
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
        TEST(entities_are_refused),
        TEST(what_is_no_manifest_is_refused),
        TEST(elements_must_not_nest_without_end),
        TEST(events_whose_template_makes_no_sense_keep_what_does),
        TEST(fields_of_a_template_are_bounded),
        TEST(the_first_of_two_things_of_one_name_is_meant),
        TEST(what_is_made_of_manifests_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
