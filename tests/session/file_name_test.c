/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The name that is made from the one that was given: a serial number and a process id (R14, R96,
 * R98).
 */
#include "session/file_name.h"

#include <string.h>

#include "session/fixture.h"

enum {
    NEWFILE = EVENT_TRACE_FILE_MODE_NEWFILE,
    PRIVATE = EVENT_TRACE_PRIVATE_LOGGER_MODE,
    PROCESS_ID = 4711
};

static uint32_t make(const char *given, uint32_t mode, uint32_t serial, char *made)
{
    etwas_wchar wide[ETWAS_NAME_UNITS + 1];
    etwas_wchar name[ETWAS_NAME_UNITS + 1];
    uint32_t code;
    size_t index = 0;

    memset(name, 0x55, sizeof name);
    code = etwas_file_name_make(wide_of(given, wide, ETWAS_NAME_UNITS + 1), mode, serial,
                                PROCESS_ID, name);
    for (; name[index] != 0; index++) {
        assert_true(index < ETWAS_NAME_UNITS && name[index] < 0x80);
        made[index] = (char)name[index];
    }
    made[index] = 0;
    return code;
}

static void r96_and_r98_the_number_replaces_its_field_and_the_process_id_is_appended(void **state)
{
    static const struct {
        const char *given;
        uint32_t mode;
        uint32_t serial;
        const char *made;
    } cases[] = {
        {"log.etl", 0, 1, "log.etl"},
        {"log%d.etl", 0, 1, "log%d.etl"},
        {"log%d.etl", EVENT_TRACE_FILE_MODE_CIRCULAR, 3, "log%d.etl"},
        {"log%d.etl", NEWFILE, 1, "log1.etl"},
        {"%d", NEWFILE, 0xFFFFFFFF, "4294967295"},
        {"log%03d.etl", NEWFILE, 7, "log007.etl"},
        {"log%03d.etl", NEWFILE, 1234, "log1234.etl"},
        {"log%3d.etl", NEWFILE, 7, "log  7.etl"},
        {"log%0d.etl", NEWFILE, 12, "log12.etl"},
        {"log%010d", NEWFILE, 12, "log0000000012"},
        {"100%/a%d", NEWFILE, 2, "100%/a2"},
        {"50%x%d%", NEWFILE, 2, "50%x2%"},
        {"%%d", NEWFILE, 5, "%5"},
        {"log.etl", PRIVATE, 1, "log.etl_4711"},
        {"log.etl", PRIVATE | EVENT_TRACE_PRIVATE_IN_PROC, 1, "log.etl_4711"},
        {"log%d.etl", PRIVATE, 1, "log%d.etl_4711"},
        {"log%d.etl", NEWFILE | PRIVATE, 9, "log9.etl_4711"},
    };
    char made[ETWAS_NAME_UNITS + 1];

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        assert_int_equal(make(cases[index].given, cases[index].mode, cases[index].serial, made),
                         ERROR_SUCCESS);
        assert_string_equal(made, cases[index].made);
    }
}

static void r96_a_set_without_exactly_one_field_is_an_invalid_name(void **state)
{
    static const char *const wrong[] = {"log.etl", "log%.etl",  "log%s.etl", "log%-3d",   "log%D",
                                        "%d%d",    "a%3db%03d", "log%",      "%0",        "%5",
                                        "log% d",  "log%n.etl", "%1$d",      "%lld%x.etl"};
    char made[ETWAS_NAME_UNITS + 1];

    (void)state;
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        assert_int_equal(make(wrong[index], NEWFILE, 1, made), ERROR_INVALID_NAME);
    }
}

/* R9, R14: a name of 1,024 characters is one, its suffixes included; a longer one is none. */
static void r14_a_name_made_too_long_is_a_bad_pathname(void **state)
{
    char given[ETWAS_NAME_UNITS + 1];
    char made[ETWAS_NAME_UNITS + 1];

    (void)state;
    memset(given, 'x', sizeof given);
    given[ETWAS_NAME_UNITS] = 0;
    assert_int_equal(make(given, 0, 1, made), ERROR_SUCCESS);
    assert_string_equal(made, given);
    assert_int_equal(make(given, PRIVATE, 1, made), ERROR_BAD_PATHNAME);
    given[ETWAS_NAME_UNITS - 4] = 0;
    assert_int_equal(make(given, PRIVATE, 1, made), ERROR_BAD_PATHNAME);
    given[ETWAS_NAME_UNITS - 5] = 0;
    assert_int_equal(make(given, PRIVATE, 1, made), ERROR_SUCCESS);
    assert_int_equal(strlen(made), ETWAS_NAME_UNITS);
    memcpy(given, "%d", 2);
    assert_int_equal(make(given, NEWFILE | PRIVATE, 99, made), ERROR_SUCCESS);
    assert_int_equal(make(given, NEWFILE | PRIVATE, 100, made), ERROR_BAD_PATHNAME);
    /* However wide the field is said to be. */
    assert_int_equal(make("%01024d", NEWFILE, 1, made), ERROR_SUCCESS);
    assert_int_equal(make("%01025d", NEWFILE, 1, made), ERROR_BAD_PATHNAME);
    assert_int_equal(make("%99999999999999999999d", NEWFILE, 1, made), ERROR_BAD_PATHNAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r96_and_r98_the_number_replaces_its_field_and_the_process_id_is_appended),
        cmocka_unit_test(r96_a_set_without_exactly_one_field_is_an_invalid_name),
        cmocka_unit_test(r14_a_name_made_too_long_is_a_bad_pathname),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
