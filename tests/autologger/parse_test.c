/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is read of an AutoLogger's file, and which line of it is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/shared.h>

#include "autologger/folder.h"

static struct etwas_autologger autologger;

static bool read_text(const char *text, struct etwas_autologger_error *fault)
{
    return etwas_autologger_parse(text, strlen(text), &autologger, fault);
}

static void expect_good(const char *text)
{
    struct etwas_autologger_error fault = {0, "nothing"};

    if (!read_text(text, &fault)) {
        fail_msg("line %u of '%s': %s", fault.line, text, fault.reason);
    }
}

static void expect_fault(const char *text, uint32_t line, const char *reason)
{
    struct etwas_autologger_error fault = {0, "nothing"};

    assert_false(read_text(text, &fault));
    if (fault.line != line || strstr(fault.reason, reason) == NULL) {
        fail_msg("line %u of '%s': %s", fault.line, text, fault.reason);
    }
}

static void each_value_is_taken(void **state)
{
    static const etwas_guid known = {
        0x5ab7a3c2, 0x1f0e, 0x4d7b, {0x9a, 0x31, 0x6e, 0x02, 0xd4, 0x8c, 0x77, 0x10}};
    etwas_guid made;

    (void)state;
    expect_good("# a comment\n\n ; another\n"
                "Start = 0\nBufferSize=128\n\tclocktype\t=\t3\t\nFileMax = 0x10\nFlushTimer = 5\n"
                "LogFileMode = 0X8000400\nMaxFileSize = 4294967295\nMaximumBuffers = 99\n"
                "MinimumBuffers = 0098\nFileName = /var/log/größe = 1;#.etl\n"
                "ExecutableName = shop\nexecutablename = till ;\tköln \n"
                "[Shop.Till]\nEnabled = 0\nEnableLevel = 4\nEnableProperty = 0x44\n"
                "[ {5AB7A3C2-1f0e-4d7b-9a31-6e02d48c7710} ]\n"
                "MatchAnyKeyword = 0xF000000000000001\nMatchAllKeyword=18446744073709551615");
    assert_int_equal(autologger.start, 0);
    assert_int_equal(autologger.buffer_size_kb, 128);
    assert_int_equal(autologger.clock, 3);
    assert_int_equal(autologger.file_max, 16);
    assert_int_equal(autologger.flush_timer, 5);
    assert_int_equal(autologger.log_file_mode, 0x8000400);
    assert_int_equal(autologger.maximum_file_size, UINT32_MAX);
    assert_int_equal(autologger.maximum_buffers, 99);
    assert_int_equal(autologger.minimum_buffers, 98);
    assert_string_equal(autologger.file_name, "/var/log/größe = 1;#.etl");
    assert_memory_equal(autologger.programs, u"shop;till;köln", sizeof u"shop;till;köln");
    assert_int_equal(autologger.provider_count, 2);
    assert_int_equal(etwas_name_guid("Shop.Till", &made), 0);
    assert_memory_equal(&autologger.providers[0].guid, &made, sizeof made);
    assert_string_equal(autologger.providers[0].name, "Shop.Till");
    assert_string_equal(autologger.providers[1].name, "");
    assert_int_equal(autologger.providers[0].line, 16);
    assert_int_equal(autologger.providers[0].enabled, 0);
    assert_int_equal(autologger.providers[0].level, 4);
    assert_int_equal(autologger.providers[0].property, 0x44);
    assert_memory_equal(&autologger.providers[1].guid, &known, sizeof known);
    assert_true(autologger.providers[1].match_any == 0xF000000000000001);
    assert_true(autologger.providers[1].match_all == UINT64_MAX);
}

static void what_is_not_said_is_as_etw_has_it(void **state)
{
    (void)state;
    expect_good("");
    assert_int_equal(autologger.start, 1);
    assert_int_equal(autologger.provider_count, 0);
    assert_true(autologger.buffer_size_kb == 0 && autologger.file_name[0] == '\0' &&
                autologger.programs[0] == 0);
    expect_good("[x]");
    assert_int_equal(autologger.providers[0].enabled, 1);
    assert_int_equal(autologger.providers[0].level, 255);
}

static void the_line_that_is_wrong_is_named(void **state)
{
    static const struct fault {
        const char *text;
        uint32_t line;
        const char *reason;
    } faults[] = {
        {"\n\nStart", 3, "a line is NAME = VALUE"},
        {"= 3", 1, "a session has no such value"},
        {"Start = 1\nEnableLevel = 3", 2, "a session has no such value"},
        {"[x]\nBufferSize = 64", 2, "a provider has no such value"},
        {"[x]\nFileName = /x", 2, "a provider has no such value"},
        {"Start = 1\nSTART = 1", 2, "given before"},
        {"FileName = /x\nFileName = /y", 2, "given before"},
        {"[x]\nEnabled = 1\n[y]\nEnabled = 1\nEnabled = 0", 5, "given before"},
        {"Start = 2", 1, "too large"},
        {"Start = 9", 1, "too large"},
        {"Start =", 1, "it takes a number"},
        {"Start = 0x", 1, "it takes a number"},
        {"Start = -1", 1, "it takes a number"},
        {"Start = 1 1", 1, "it takes a number"},
        {"Start = yes", 1, "it takes a number"},
        {"LogFileMode = 4294967296", 1, "too large"},
        {"[x]\nMatchAnyKeyword = 18446744073709551616", 2, "too large"},
        {"[x]\nMatchAnyKeyword = 0x10000000000000000", 2, "too large"},
        {"[x]\nEnableLevel = 256", 2, "too large"},
        {"BufferSize = 3", 1, "too small"},
        {"ClockType = 0", 1, "too small"},
        {"BufferSize = 16385", 1, "too large"},
        {"FileMax = 17", 1, "too large"},
        {"FileName = x.etl", 1, "named from / on"},
        {"FileName =", 1, "named from / on"},
        {"FileName = /\xC3", 1, "not UTF-8"},
        {"ExecutableName = /usr/bin/shop", 1, "without a folder"},
        {"ExecutableName = ", 1, "without a folder"},
        {"ExecutableName = a;", 1, "without a folder"},
        {"ExecutableName = a; ;b", 1, "without a folder"},
        {"ExecutableName = \xFF", 1, "UTF-8"},
        {"[x", 1, "a section is"},
        {"[", 1, "a section is"},
        {"[]", 1, "a section is"},
        {"[ ]", 1, "a section is"},
        {"[{}]", 1, "a section is"},
        {"[{]", 1, "a section is"},
        {"[{5ab7a3c2-1f0e-4d7b-9a31-6e02d48c771g}]", 1, "a section is"},
        {"[{5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710]", 1, "a section is"},
        {"[\xC3]", 1, "a section is"},
        {"[x]\n[X]", 2, "a section before"},
        {"Start = 1\r\n", 1, "it takes a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        expect_fault(faults[i].text, faults[i].line, faults[i].reason);
    }
}

static void what_is_too_much_is_refused(void **state)
{
    static char text[64 << 10];
    struct etwas_autologger_error fault;
    size_t used = 0;

    (void)state;
    for (int i = 0; i <= ETWAS_AUTOLOGGER_PROVIDERS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "[p%d]\n", i);
        if (i < ETWAS_AUTOLOGGER_PROVIDERS) {
            expect_good(text);
        }
    }
    expect_fault(text, ETWAS_AUTOLOGGER_PROVIDERS + 1, "more than 64 providers");
    /* As long as a name may be, and longer. */
    used = (size_t)snprintf(text, sizeof text, "FileName = /");
    memset(text + used, 'n', sizeof autologger.file_name);
    text[used + sizeof autologger.file_name - 2] = '\0';
    expect_good(text);
    text[used + sizeof autologger.file_name - 2] = 'n';
    text[used + sizeof autologger.file_name - 1] = '\0';
    expect_fault(text, 1, "too long");
    /* All programs together; a name may end where there is no more room. */
    used = (size_t)snprintf(text, sizeof text, "ExecutableName = ");
    memset(text + used, 'n', ETWAS_FILTER_NAMES_UNITS);
    text[used + ETWAS_FILTER_NAMES_UNITS - 1] = '\0';
    expect_good(text);
    (void)snprintf(text + used + ETWAS_FILTER_NAMES_UNITS - 1, 32, "\nExecutableName = x");
    expect_fault(text, 2, "511 characters together");
    text[used + ETWAS_FILTER_NAMES_UNITS - 1] = 'n';
    expect_fault(text, 1, "511 characters together");
    assert_false(etwas_autologger_parse("Start = 1\n\0", 11, &autologger, &fault));
    assert_int_equal(fault.line, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_taken),
        cmocka_unit_test(what_is_not_said_is_as_etw_has_it),
        cmocka_unit_test(the_line_that_is_wrong_is_named),
        cmocka_unit_test(what_is_too_much_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
