/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Expressions of --where by themselves: the fields of an event are made up, and what is wrong with
 * an expression is looked at with its place.
 */

#include "event/field_paths.h"
#include "where/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const etwas_guid red = {0x0AD614C4, 0xE2F5, 0x4C5B, {0xB2, 1, 2, 3, 4, 5, 6, 7}};
#define RED "0ad614c4-e2f5-4c5b-b201-020304050607"

/* A field of the event, or one of several of that name. */
struct made_up {
    const char *name; /* as the path has it, with a 0 between */
    size_t bytes;
    struct etwas_where_number number;
    const char *text;
};

#define NAMED(path) path, sizeof(path)
#define UNSIGNED(value)                                                                            \
    {                                                                                              \
        .kind = ETWAS_WHERE_UNSIGNED, .u = (value)                                                 \
    }
#define SIGNED(value)                                                                              \
    {                                                                                              \
        .kind = ETWAS_WHERE_SIGNED, .i = (value)                                                   \
    }

/* 2026-11-21T08:19:17.5Z */
#define MOMENT INT64_C(1795249157500000000)

static const struct made_up event[] = {
    {NAMED("zero"), UNSIGNED(0), "0"},
    {NAMED("one"), UNSIGNED(1), "1"},
    {NAMED("largest"), UNSIGNED(UINT64_MAX), "18446744073709551615"},
    {NAMED("top"), UNSIGNED(UINT64_C(1) << 63), "9223372036854775808"},
    {NAMED("below"), SIGNED(-1), "-1"},
    {NAMED("lowest"), SIGNED(INT64_MIN), "-9223372036854775808"},
    {NAMED("half"), {.kind = ETWAS_WHERE_FLOAT, .f = 0.5}, "0.5"},
    {NAMED("nan"), {.kind = ETWAS_WHERE_FLOAT, .f = __builtin_nan("")}, "nan"},
    {NAMED("string"), {.kind = ETWAS_WHERE_TEXT}, "a \"b\"\n"},
    {NAMED("empty"), {.kind = ETWAS_WHERE_TEXT}, ""},
    {NAMED("digits"), {.kind = ETWAS_WHERE_TEXT}, "10"},
    {NAMED("list"), UNSIGNED(1), "1"},
    {NAMED("list"), UNSIGNED(2), "2"},
    {NAMED("list"), UNSIGNED(3), "3"},
    {NAMED("point\0x"), UNSIGNED(7), "7"},
    {NAMED("a b"), UNSIGNED(8), "8"},
    {NAMED("true"), UNSIGNED(9), "9"},
    {NAMED("contains"), UNSIGNED(10), "10"},
    {NAMED("time"), UNSIGNED(11), "11"},
    {NAMED("größe"), UNSIGNED(12), "12"},
    {NAMED("took_us"), UNSIGNED(5000), "5000"},
    {NAMED("point\0took_ms"), {.kind = ETWAS_WHERE_FLOAT, .f = 1.5}, "1.5"},
    {NAMED("late_ns"), SIGNED(-3000), "-3000"},
    {NAMED("age_s"), UNSIGNED(90), "90"},
    {NAMED("color"), {.kind = ETWAS_WHERE_UNSIGNED, .has_name = true, .u = 3}, "green"},
    {NAMED("guid"),
     {.kind = ETWAS_WHERE_GUID, .guid = {0x0AD614C4, 0xE2F5, 0x4C5B, {0xB2, 1, 2, 3, 4, 5, 6, 7}}},
     RED},
    {NAMED("when"), {.kind = ETWAS_WHERE_TIME, .i = MOMENT}, "2026-11-21T08:19:17.5000000"},
};

static struct etwas_field_paths paths;

static const struct made_up *find(const struct etwas_where_operand *operand, uint32_t index)
{
    const struct etwas_field_path *path = &paths.paths[operand->field];

    for (size_t i = 0; i < sizeof event / sizeof event[0]; i++) {
        if (event[i].bytes == path->bytes && memcmp(event[i].name, path->text, path->bytes) == 0 &&
            index-- == 0) {
            return &event[i];
        }
    }
    return NULL;
}

static uint32_t count(void *context, const struct etwas_where_operand *operand)
{
    uint32_t found = 0;

    (void)context;
    if (operand->source == ETWAS_WHERE_OF_PROPERTY) {
        return operand->property != ETWAS_PROPERTY_DURATION;
    }
    while (find(operand, found) != NULL) {
        found++;
    }
    return found;
}

static struct etwas_where_number number(void *context, const struct etwas_where_operand *operand,
                                        uint32_t index)
{
    struct etwas_where_number made = {.kind = ETWAS_WHERE_TEXT};

    (void)context;
    if (operand->source == ETWAS_WHERE_OF_FIELD) {
        return find(operand, index)->number;
    }
    switch (etwas_property_kind(operand->property)) {
    case ETWAS_PROPERTY_IS_TIME:
        made.kind = operand->absolute ? ETWAS_WHERE_TIME : ETWAS_WHERE_UNSIGNED;
        made.i = operand->absolute ? MOMENT : 1500;
        break;
    case ETWAS_PROPERTY_IS_GUID:
        made.kind = ETWAS_WHERE_GUID;
        made.guid = red;
        break;
    case ETWAS_PROPERTY_IS_NUMBER:
        made.kind = ETWAS_WHERE_UNSIGNED;
        made.u = 4;
        break;
    default:
        break;
    }
    return made;
}

static const char *text(void *context, const struct etwas_where_operand *operand, uint32_t index,
                        unsigned side, size_t *bytes)
{
    const char *found = "Shop";

    (void)context, (void)side;
    if (operand->source == ETWAS_WHERE_OF_PROPERTY && operand->property == ETWAS_PROPERTY_EVENT) {
        found = "My Shop/Order/Start";
    } else if (operand->source == ETWAS_WHERE_OF_PROPERTY &&
               operand->property == ETWAS_PROPERTY_EVENT_CLASS) {
        found = "My Shop/Order";
    } else if (operand->source == ETWAS_WHERE_OF_FIELD) {
        found = find(operand, index)->text;
    } else if (etwas_property_kind(operand->property) == ETWAS_PROPERTY_IS_GUID) {
        found = RED;
    }
    *bytes = strlen(found);
    return found;
}

/* Whether the expression, which must be right, holds for the event. */
static bool holds(const char *expression)
{
    static struct etwas_where where;
    const struct etwas_where_values values = {NULL, count, number, text};
    bool result;

    memset(&paths, 0, sizeof paths);
    if (!etwas_where_parse(&where, expression, &paths)) {
        fail_msg("%s: %s, at %zu", expression, where.error, where.error_at);
    }
    result = etwas_where_holds(&where, &values);
    if (where.error != NULL) {
        fail_msg("%s: %s, at %zu", expression, where.error, where.error_at);
    }
    etwas_where_clear(&where);
    return result;
}

/* Expressions up to an empty one. */
static void check(const char *const *expressions, bool expected)
{
    for (; **expressions != '\0'; expressions++) {
        if (holds(*expressions) != expected) {
            fail_msg("%s is %s", *expressions, expected ? "false" : "true");
        }
    }
}

#define TRUE(...) check((const char *const[]){__VA_ARGS__, ""}, true)
#define FALSE(...) check((const char *const[]){__VA_ARGS__, ""}, false)

static void and_binds_tighter_than_or_and_not_than_both(void **state)
{
    (void)state;
    TRUE("one || one && zero", "zero && zero || one", "(one || one) && one", "!zero && one",
         "!(zero && one)", "!zero || zero", "!!one", "one && !zero && !(zero || zero)",
         "!one == 1 || one", "((((one))))", "one&&!zero||zero", "zero || zero || one");
    FALSE("(one || one) && zero", "zero && (zero || one)", "!one", "!one || zero", "!(one)",
          "!!!one", "! one == 1", "zero || one && zero");
}

static void a_mask_binds_tighter_than_a_comparison(void **state)
{
    (void)state;
    TRUE("largest & 0x20 == 0x20", "top & 1 == 0", "0x8000000000000000 == top & 0xFFFFFFFFFFFFFFFF",
         "below & 3 == 3", "list & 2", "level & 4 && one");
    FALSE("top & 1", "zero & 0xFF", "one & 2 == 2");
}

static void numbers_of_64_bits_compare_by_what_they_are(void **state)
{
    (void)state;
    TRUE("largest == 18446744073709551615", "largest == 0xFFFFFFFFFFFFFFFF",
         "largest > 18446744073709551614", "below == -1", "below < zero", "below < largest",
         "largest > below", "lowest == -9223372036854775808", "lowest < below", "top > lowest",
         "top > 9223372036854775807", "largest != below", "-1 < 0", "0 > -1", "-0 == 0",
         "top == 0X8000000000000000", "largest > 9223372036854774784.0", "lowest < -9.2e18");
    FALSE("below == 18446744073709551615", "largest == -1", "largest < 0", "below > 0",
          "top == lowest", "lowest > -9223372036854775807", "top == 9223372036854774784.0");
}

static void numbers_are_written_in_every_usual_way(void **state)
{
    (void)state;
    TRUE("half == 0.5", "half == 5e-1", "half == 0.05e1", "half == 5E-1", "1e6 == 1000000",
         "1e+06 == 1M", "1.5k == 1500", "4Ki == 0x1000", "1Mi == 1048576", "2G > 1Gi",
         "1ms == 1000us", "1µs == 1000ns", "1s == 1e9", "0.5s == 500ms", "0x1e2 == 482",
         "-2k < -1.5k", "one == true", "zero == false", "true", "0.1 == 0.1", "1k == 1K");
    FALSE("false", "half == 0.500001", "nan == nan", "nan < 0", "nan >= 0", "1e400 < 1", "0.0",
          "-0");
    TRUE("nan != nan");
}

static void any_of_several_values_will_do(void **state)
{
    (void)state;
    TRUE("list == 2", "list > 1 && list < 2", "2 == list", "list != 2", "list == list", "list",
         "list & 4 == 0", "list > list");
    FALSE("list == 4", "!(list == 2)", "list & 4");
}

static void what_an_event_does_not_have_compares_false(void **state)
{
    (void)state;
    FALSE("none", "none == 0", "none != 0", "none == none", "duration > 0", "duration",
          "none =~ ''", "none contains ''", "0 == none", "point == 7", "x == 7");
    TRUE("!none", "!(none == 0)", "!duration");
}

static void strings_hold_any_character(void **state)
{
    (void)state;
    TRUE("string == \"a \\\"b\\\"\\n\"", "string == 'a \"b\"\\x0a'", "string == 'a \\x22b\\x22\\n'",
         "string contains '\"b\"'", "string =~ '^a \"b\"'", "empty == \"\"", "empty == ''",
         "string > 'a'", "string != ''", "'a' < 'b'", "'a' < 'aa'", "'a\\x00b' > 'a'",
         "'&& ||' == '&& ||'", "'x'", "string contains ''", "string contains '\\n'",
         "\"'\" == '\\''", "'\\\\' == '\\x5C'");
    FALSE("empty", "''", "string == 'a'", "string =~ '^b'", "string contains 'B'",
          "string contains 'a\\x00'");
}

static void a_number_compares_with_a_string_only_by_its_name(void **state)
{
    (void)state;
    TRUE("digits == '10'", "one =~ '^1$'", "one contains '1'", "digits != 'digits'", "color == 3",
         "color == 'green'", "color != 'red'", "color < 4", "color & 1 == 1", "color != string");
    FALSE("color == 'red'", "color == one", "color == digits");
}

static void an_event_is_known_by_its_whole_name_and_its_last_parts(void **state)
{
    (void)state;
    TRUE("event == 'My Shop/Order/Start'", "event == 'Order/Start'", "event == 'Start'",
         "'Start' == event", "event_class == 'My Shop/Order'", "event_class == 'Order'",
         "event != 'Order'", "event != 'tart'", "event != 'rder/Start'", "event != ''",
         "event != '/Order/Start'", "event != 'Shop/Order/Start'", "event =~ '^My Shop/Order/'",
         "event contains 'Order/S'", "event != 'My Shop/Order'",
         "event == 'My\\x20Shop/Order/Start'", "event_class != 'Start'",
         "event != 'A My Shop/Order/Start'");
    FALSE("event == 'Order'", "event != 'Start'", "event != 'Order/Start'", "event == 'start'",
          "event != 'My Shop/Order/Start'", "event =~ '^Start'", "event == string",
          "event_class == 'Order/Start'", "event == 'p/Order/Start'");
}

static void a_unit_of_time_becomes_that_of_the_field(void **state)
{
    (void)state;
    TRUE("took_us == 5ms", "took_us > 4999us", "5ms == took_us", "took_us < 0.1min",
         "took_us > 4999999ns", "took_us < 5000001ns", "point.took_ms == 1500us",
         "fields.point.took_ms < 2ms", "late_ns == -3us", "late_ns > -3.5us", "age_s == 1.5min",
         "age_s > 89999ms", "age_s == 90", "duration == 1s || time == 1.5us", "1min == 60s");
    FALSE("took_us == 5001us", "took_us > 5ms", "late_ns < -3001ns", "age_s < 90s");
}

static void any_character_may_be_written_as_columns_show_it(void **state)
{
    (void)state;
    TRUE("'\\u{e9}' == 'é'", "'\\u{202e}' == '\xe2\x80\xae'", "'\\u{1F600}' == '\xf0\x9f\x98\x80'");
}

static void names_are_words_or_anything_in_backquotes(void **state)
{
    (void)state;
    TRUE("point.x == 7", "fields.point.x == 7", "`point`.x == 7", "`a b` == 8", "`true` == 9",
         "`contains` == 10", "`time` == 11", "fields.time == 11", "größe == 12",
         "fields.`a b` == 8", "`zero` == 0", "fields.`contains` == 10");
    FALSE("`point.x` == 7", "fields.fields.one == 1", "One == 1", "`fields`.x == 7");
}

static void properties_go_before_fields(void **state)
{
    (void)state;
    TRUE("level == 4", "pid == 4", "cpu == 4", "time == 1500", "time == 1.5us",
         "provider == 'Shop'", "name =~ '^Sh'", "event contains 'hop'", "message != ''",
         "level == 4.0");
    TRUE("level == information", "level == 'Information'", "'information' == level",
         "level <= verbose", "level > \"warning\"", "level != error && level != critical");
    FALSE("level == warning", "level == fields.information", "level <= 'error'");
    FALSE("level == 5", "time == 11", "provider != 'Shop'", "provider =~ '^X'");
}

static void guids_compare_in_any_form(void **state)
{
    (void)state;
    TRUE("guid == '" RED "'", "guid == '{" RED "}'",
         "guid == '0AD614C4-E2F5-4C5B-B201-020304050607'",
         "guid == '{0AD614C4-E2F5-4C5B-B201-020304050607}'", "event_class_id == '{" RED "}'",
         "event_class_id == guid", "activity != '0ad614c4-e2f5-4c5b-b201-020304050608'",
         "guid contains '0ad6'", "guid", "event_class_id =~ '607$'", "'" RED "' == guid");
    FALSE("guid == '0ad614c4-e2f5-4c5b-b201-020304050608'", "digits == '" RED "'",
          "event_class_id != guid");
    /* A text stays what it is. */
    TRUE("'{" RED "}' contains '{'");
}

static void times_compare_with_dates_of_any_length(void **state)
{
    (void)state;
    TRUE("time > '2026-11-21'", "time > '2026-11-21T08'", "time > '2026-11-21T08:19'",
         "time == '2026-11-21T08:19:17.5'", "time == '2026-11-21 08:19:17.500000000Z'",
         "time < '2026-11-21T08:19:17.500000001'", "'2026-11-22' > time",
         "when == '2026-11-21T08:19:17.5Z'", "when < '2026-11-22'",
         "when >= '2026-11-21T08:19:17.5'", "when != '2027-01-01'", "time == when", "time < 2us",
         "when contains '08:19'", "when == time");
    FALSE("time < '2026-11-21'", "time != '2026-11-21T08:19:17.5'", "when > '2026-11-21T08:19:18'",
          "time > when");
}

struct wrong {
    const char *expression;
    const char *error; /* a part of it */
    size_t at;
    size_t length;
};

static const struct wrong wrongs[] = {
    {"", "expected a name, a number, a string, ! or (", 0, 0},
    {"   ", "expected a name, a number, a string, ! or (", 3, 0},
    {"one &&", "expected a name, a number, a string, ! or (", 6, 0},
    {"one && && one", "expected a name, a number, a string, ! or (", 7, 2},
    {"()", "expected a name, a number, a string, ! or (", 1, 1},
    {"!", "expected a name", 1, 0},
    {"one and one", "expected && or ||, or the end", 4, 3},
    {"1 < one < 3", "expected && or ||, or the end", 8, 1},
    {"one)", "expected && or ||, or the end", 3, 1},
    {"(one", "expected && or || or )", 4, 0},
    {"one ==", "to compare with", 6, 0},
    {"one = 1", "== compares", 4, 1},
    {"one ~ 'a'", "=~ takes", 4, 1},
    {"one | 1", "|| is 'or'", 4, 1},
    {"one + 1 == 2", "no arithmetic", 4, 1},
    {"one - one", "no arithmetic", 4, 1},
    {"list[0] == 1", "no [N]", 4, 1},
    {"one > 1,5", "means nothing here", 7, 1},
    {"one & zero", "expected the bits", 6, 4},
    {"one & -1", "expected the bits", 6, 2},
    {"one & 1.5", "expected the bits", 6, 3},
    {"one & 1s", "expected the bits", 6, 2},
    {"one > 5ms", "the field's name does not end in _ns, _us, _ms or _s", 6, 3},
    {"5ms < list", "the field's name does not end in", 0, 3},
    {"took_us.x == 5ms", "the field's name does not end in", 13, 3},
    {"level > 5ms", "this is no time", 8, 3},
    {"text == '\\u{}'", "no such escape", 9, 2},
    {"text == '\\u{110000}'", "no such escape", 9, 2},
    {"1 & 1", "& goes with the name", 2, 1},
    {"one == 5x", "no such unit", 8, 1},
    {"one == 1e", "no such unit", 8, 1},
    {"one == 0x", "0x without a digit", 7, 2},
    {"one == 0x1k", "not a hexadecimal digit", 10, 1},
    {"one == 18446744073709551616", "does not fit in 64 bits", 7, 20},
    {"one == -9223372036854775809", "does not fit in 64 bits", 7, 20},
    {"one == 18446744073709551615k", "does not fit in 64 bits", 7, 21},
    {"text == 'a", "the string has no end", 8, 1},
    {"text == 'a\\", "no such escape", 10, 1},
    {"text == '\\x4'", "no such escape", 9, 2},
    {"text =~ '('", "not an extended regular expression", 8, 3},
    {"text =~ one", "=~ takes a regular expression", 8, 3},
    {"text contains 5", "contains takes a string", 14, 1},
    {"time contains '08'", "a time is no text", 0, 4},
    {"`a", "the name has no end", 0, 1},
    {"point. == 1", "the name of a member", 6, 1},
    {"`` == 1", "the name of a member", 0, 1},
    {"payload == ''", "this cannot be compared", 0, 7},
    {"time > 'soon'", "not a time", 7, 6},
    {"time > '2026-02-28T24:00'", "not a time", 7, 18},
    {"time > '2026-02-29'", "not a time", 7, 12},
    {"time > '2026-11-21T08:60'", "not a time", 7, 18},
    {"time > '2026-11-21 08:19 '", "not a time", 7, 19},
    {"time > '1600-01-01'", "not a time", 7, 12},
    {"level == 'info'", "no level: there are critical, error", 9, 6},
    {"'3' == level", "no level: there are critical, error", 0, 3},
    {"pid == 'warning'", "expected a number", 7, 9},
    {"'4' == pid", "expected a number", 0, 3},
    {"provider == 4", "a string stands in quotes", 12, 1},
    {"event_class_id == 'Shop'", "names are in 'event_class' and 'event'", 18, 6},
    {"activity == 0", "expected a GUID", 12, 1},
};

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static struct etwas_where where;

    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const struct wrong *wrong = &wrongs[i];

        memset(&paths, 0, sizeof paths);
        if (etwas_where_parse(&where, wrong->expression, &paths)) {
            fail_msg("%s is taken for right", wrong->expression);
        }
        if (strstr(where.error, wrong->error) == NULL || where.error_at != wrong->at ||
            where.error_length != wrong->length) {
            fail_msg("%s: %s, %zu bytes at %zu", wrong->expression, where.error, where.error_length,
                     where.error_at);
        }
        etwas_where_clear(&where);
    }
}

/* Each is right by itself, and its values are of different types. */
static const struct wrong mismatches[] = {
    {"one == '1'", "the value is a number: a number stands without quotes", 7, 3},
    {"one != 'a'", "the value is a number", 7, 3},
    {"'5000' < took_us", "the value is a number", 0, 6},
    {"one && took_us > '5000'", "the value is a number", 17, 6},
    {"list == '2'", "the value is a number", 8, 3},
    {"one == '2026-11-21'", "the value is a number", 7, 12},
    {"one == '" RED "'", "the value is a number", 7, 38},
    {"half == '0.5'", "the value is a number", 8, 5},
    {"one & 1 == '1'", "the value is a number", 11, 3},
    {"color & 1 == 'green'", "the value is a number", 13, 7},
    {"digits == 10", "the value is text: a string stands in quotes", 10, 2},
    {"10 >= digits", "the value is text", 0, 2},
    {"!(string == 1)", "the value is text", 12, 1},
    {"guid == 'none'", "the value is a GUID", 8, 6},
    {"guid == '{" RED "'", "the value is a GUID", 8, 39},
    {"guid != 5", "the value is a GUID", 8, 1},
    {"when == 'never'", "the value is a time", 8, 7},
    {"when > 5", "the value is a time", 7, 1},
    {"one == string", "of different types", 0, 3},
    {"time == zero", "of different types", 0, 4},
    {"when == guid", "of different types", 0, 4},
    {"half & 1", "& takes bits of a whole number", 0, 8},
    {"string & 1", "& takes bits of a whole number", 0, 10},
    {"guid & 1 == 1", "& takes bits of a whole number", 0, 8},
    {"1 == when & 1", "& takes bits of a whole number", 5, 8},
};

static void different_types_are_an_error_with_its_place(void **state)
{
    static struct etwas_where where;
    const struct etwas_where_values values = {NULL, count, number, text};

    (void)state;
    for (size_t i = 0; i < sizeof mismatches / sizeof mismatches[0]; i++) {
        const struct wrong *wrong = &mismatches[i];

        memset(&paths, 0, sizeof paths);
        assert_true(etwas_where_parse(&where, wrong->expression, &paths));
        if (etwas_where_holds(&where, &values) || where.error == NULL ||
            strstr(where.error, wrong->error) == NULL || where.error_at != wrong->at ||
            where.error_length != wrong->length) {
            fail_msg("%s: %s, %zu bytes at %zu", wrong->expression, where.error, where.error_length,
                     where.error_at);
        }
        etwas_where_clear(&where);
    }
    /* What is not compared is no error: an event is chosen first, then its field is compared. */
    FALSE("zero && one == 'a'", "event == 'Stop' && one == 'a'", "none == 'a'", "none & 1");
}

/* `before` and `after` so many times around `inside`. */
static void repeat(char *made, size_t size, const char *before, unsigned times, const char *inside)
{
    size_t used = 0;

    for (unsigned i = 0; i < times; i++) {
        used += (size_t)snprintf(made + used, size - used, "%s", before);
    }
    snprintf(made + used, size - used, "%s", inside);
}

static void an_expression_has_bounds_and_says_which(void **state)
{
    static struct etwas_where where;
    static char made[20000];
    static const struct {
        const char *before;
        unsigned fits; /* so many times, and no more */
        const char *inside;
        const char *error;
    } bounds[] = {
        {"!", ETWAS_WHERE_DEPTH, "one", "too deep"},
        {"one||", ETWAS_WHERE_NODES / 2 - 1, "one", "too many parts"},
        {"'aaaaaaaaa'==zero||", 15, "one", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        memset(&paths, 0, sizeof paths);
        repeat(made, sizeof made, bounds[i].before, bounds[i].fits, bounds[i].inside);
        assert_true(etwas_where_parse(&where, made, &paths));
        etwas_where_clear(&where);
        repeat(made, sizeof made, bounds[i].before, bounds[i].fits + 1, bounds[i].inside);
        if (bounds[i].error != NULL) {
            assert_false(etwas_where_parse(&where, made, &paths));
            assert_non_null(strstr(where.error, bounds[i].error));
        }
    }
    repeat(made, sizeof made, "'", 1, "");
    memset(made + 1, 'a', ETWAS_WHERE_TEXT_BYTES);
    memcpy(made + 1 + ETWAS_WHERE_TEXT_BYTES, "'", 2);
    assert_false(etwas_where_parse(&where, made, &paths));
    assert_string_equal(where.error, "the expression is too long");
}

static void too_many_or_too_long_names_are_refused(void **state)
{
    static struct etwas_where where;
    char made[ETWAS_FIELD_PATH_BYTES + 1];
    char many[16 * (ETWAS_FIELD_PATHS + 1)];
    size_t used = 0;

    (void)state;
    memset(&paths, 0, sizeof paths);
    memset(made, 'a', sizeof made - 1);
    made[sizeof made - 1] = '\0';
    assert_false(etwas_where_parse(&where, made, &paths));
    assert_string_equal(where.error, "the name is too long");
    made[sizeof made - 2] = '\0';
    assert_true(etwas_where_parse(&where, made, &paths));
    for (unsigned i = 0; i <= ETWAS_FIELD_PATHS; i++) {
        used += (size_t)snprintf(many + used, sizeof many - used, "%sf%u", i > 0 ? "||" : "", i);
    }
    memset(&paths, 0, sizeof paths);
    assert_false(etwas_where_parse(&where, many, &paths));
    assert_string_equal(where.error, "there are too many different fields");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(and_binds_tighter_than_or_and_not_than_both),
        cmocka_unit_test(a_mask_binds_tighter_than_a_comparison),
        cmocka_unit_test(numbers_of_64_bits_compare_by_what_they_are),
        cmocka_unit_test(numbers_are_written_in_every_usual_way),
        cmocka_unit_test(any_of_several_values_will_do),
        cmocka_unit_test(what_an_event_does_not_have_compares_false),
        cmocka_unit_test(strings_hold_any_character),
        cmocka_unit_test(a_number_compares_with_a_string_only_by_its_name),
        cmocka_unit_test(an_event_is_known_by_its_whole_name_and_its_last_parts),
        cmocka_unit_test(a_unit_of_time_becomes_that_of_the_field),
        cmocka_unit_test(any_character_may_be_written_as_columns_show_it),
        cmocka_unit_test(names_are_words_or_anything_in_backquotes),
        cmocka_unit_test(properties_go_before_fields),
        cmocka_unit_test(guids_compare_in_any_form),
        cmocka_unit_test(times_compare_with_dates_of_any_length),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(different_types_are_an_error_with_its_place),
        cmocka_unit_test(an_expression_has_bounds_and_says_which),
        cmocka_unit_test(too_many_or_too_long_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
