/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The tables of all commands: one meaning a name, texts that fit, and what reading an option says
 * of what is wrong.
 */

#include "cli/command.h"
#include "cli/suggest.h"
#include "cli/value.h"

#include <ctype.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char letters_allowed[] = "ofwncpeqv";

/* ---- all tables ------------------------------------------------------------------------------ */

static void each_command_is_described(void **state)
{
    size_t count = 0;

    (void)state;
    for (; etwas_commands[count] != NULL; count++) {
        const struct etwas_command *command = etwas_commands[count];
        size_t examples = 0;

        assert_ptr_equal(etwas_command_find(command->name), command);
        assert_non_null(command->run);
        assert_in_range(strlen(command->summary), 10, ETWAS_COMMAND_SUMMARY_CHARACTERS);
        assert_non_null(command->usages[0]);
        while (command->examples[examples].line != NULL) {
            char start[32];

            snprintf(start, sizeof start, "etwas %s", command->name);
            assert_non_null(strstr(command->examples[examples].line, start));
            assert_non_null(command->examples[examples].purpose);
            examples++;
        }
        assert_in_range(examples, 2, 3);
    }
    assert_true(count >= 24);
    assert_non_null(etwas_commands[0]->group);
}

static void check_option(const struct etwas_command *command, const struct etwas_option *option)
{
    if (strlen(option->help) > ETWAS_OPTION_HELP_CHARACTERS || strlen(option->help) < 5 ||
        option->help[strlen(option->help) - 1] == '.') {
        fail_msg("%s --%s: help", command->name, option->name);
    }
    if (option->letter != 0 && strchr(letters_allowed, option->letter) == NULL) {
        fail_msg("%s --%s: -%c is no letter of an option", command->name, option->name,
                 option->letter);
    }
    if ((option->value != NULL) !=
        (option->type != ETWAS_OPTION_FLAG && option->type != ETWAS_OPTION_SETTING)) {
        fail_msg("%s --%s: its type and its value do not agree", command->name, option->name);
    }
    if (option->type == ETWAS_OPTION_CHOICE) {
        assert_non_null(option->choices);
    }
    if (option->type == ETWAS_OPTION_SIZE || option->type == ETWAS_OPTION_DURATION) {
        assert_true(option->unit > 0);
    }
    if (option->type == ETWAS_OPTION_READ) {
        assert_non_null(option->read);
    }
}

static void each_option_has_a_help_that_fits(void **state)
{
    (void)state;
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        const struct etwas_option *option = etwas_commands[i]->options;

        for (; option->name != NULL; option++) {
            check_option(etwas_commands[i], option);
        }
        assert_true(option - etwas_commands[i]->options < ETWAS_COMMAND_OPTIONS);
    }
}

/* One is a list of one: record waits for one process, enable chooses among them. */
static bool are_same_values(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL &&
                      (strcmp(a, b) == 0 || strcmp(a, "LIST") == 0 || strcmp(b, "LIST") == 0));
}

/* Fails unless two options of one name or letter have the other, and values of one kind. */
static void compare_options(const struct etwas_command *command, const struct etwas_option *a,
                            const struct etwas_command *other, const struct etwas_option *b)
{
    bool is_same_name = strcmp(a->name, b->name) == 0;

    if (a->letter != 0 && a->letter == b->letter && !is_same_name) {
        fail_msg("-%c is --%s of %s and --%s of %s", a->letter, a->name, command->name, b->name,
                 other->name);
    }
    if (!is_same_name) {
        return;
    }
    if (a->letter != b->letter) {
        fail_msg("--%s has a letter in one of %s and %s", a->name, command->name, other->name);
    }
    if (!are_same_values(a->value, b->value) ||
        (a->type != b->type && a->type != ETWAS_OPTION_READ && b->type != ETWAS_OPTION_READ) ||
        a->unit != b->unit) {
        fail_msg("--%s has values of two kinds in %s and %s", a->name, command->name, other->name);
    }
}

static void a_name_means_the_same_in_each_command(void **state)
{
    (void)state;
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (const struct etwas_option *a = etwas_commands[i]->options; a->name != NULL; a++) {
                for (const struct etwas_option *b = etwas_commands[j]->options; b->name != NULL;
                     b++) {
                    if (a != b) {
                        compare_options(etwas_commands[i], a, etwas_commands[j], b);
                    }
                }
            }
        }
    }
}

/* Fails if a sentence has more than 35 words. */
static void check_sentences(const struct etwas_command *command, const char *text)
{
    unsigned words = 0;

    for (const char *at = text; *at != '\0'; at++) {
        words += at == text || (*at != ' ' && at[-1] == ' ');
        if (words > 35) {
            fail_msg("%s: a sentence of more than 35 words ends here: %.60s", command->name, at);
        }
        if (strchr(".:;?", *at) != NULL && (at[1] == ' ' || at[1] == '\0')) {
            words = 0;
        }
    }
}

static void no_sentence_is_long(void **state)
{
    (void)state;
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        const char *const *detail = etwas_commands[i]->details;

        check_sentences(etwas_commands[i], etwas_commands[i]->description);
        for (; detail != NULL && *detail != NULL; detail++) {
            check_sentences(etwas_commands[i], *detail);
        }
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct request {
    bool flag;
    int form;
    int clock;
    const char *text;
    uint32_t count;
    uint64_t size;
    uint64_t duration;
    double real;
};

static const char *const clocks[] = {"tsc", "qpc", "system", NULL};

static const struct etwas_option made_options[] = {
    ETWAS_FLAG_OPTION(struct request, flag, "follow", "a flag"),
    ETWAS_JSON_OPTION(struct request, form, "a form"),
    ETWAS_CSV_OPTION(struct request, form, "another form"),
    ETWAS_LIMIT_OPTION(struct request, count, "a number"),
    {.name = "clock",
     .value = "NAME",
     .type = ETWAS_OPTION_CHOICE,
     .choices = clocks,
     ETWAS_PLACE(struct request, clock)},
    {.name = "text",
     .letter = 'o',
     .value = "TEXT",
     .type = ETWAS_OPTION_TEXT,
     ETWAS_PLACE(struct request, text)},
    {.name = "size",
     .value = "SIZE",
     .type = ETWAS_OPTION_SIZE,
     .unit = 1024,
     .least = 4096,
     ETWAS_PLACE(struct request, size)},
    {.name = "after",
     .value = "TIME",
     .type = ETWAS_OPTION_DURATION,
     .unit = 1000000,
     ETWAS_PLACE(struct request, duration)},
    {.name = "percent",
     .value = "PERCENT",
     .type = ETWAS_OPTION_REAL,
     .least = 1,
     .most = 100,
     ETWAS_PLACE(struct request, real)},
    {.name = NULL},
};

static const struct etwas_command made = {.name = "made", .options = made_options};

/* Reads a command line of words, and returns what was written to standard error. */
static const char *read_words(struct request *request, bool *is_read, const char *words)
{
    static char errors[1024];
    static char line[256]; /* the request has parts of it */
    char *argv[16] = {"made"};
    int argc = 1;
    FILE *file = tmpfile();
    FILE *before = stderr;
    int result = -1;
    size_t bytes;

    assert_non_null(file);
    snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    memset(request, 0, sizeof *request);
    optind = 0;
    stderr = file;
    *is_read = etwas_command_read(&made, argc, argv, request, &result);
    stderr = before;
    rewind(file);
    bytes = fread(errors, 1, sizeof errors - 1, file);
    errors[bytes] = '\0';
    fclose(file);
    assert_int_equal(result, *is_read ? -1 : 2);
    return errors;
}

static void values_reach_their_places(void **state)
{
    struct request request;
    bool is_read;

    (void)state;
    read_words(&request, &is_read,
               "--follow -n 2k --csv a --clock=system -oname --size 8 --after 1.5s --percent 2.5");
    assert_true(is_read);
    assert_true(request.flag);
    assert_int_equal(request.form, ETWAS_FORM_CSV);
    assert_int_equal(request.count, 2000);
    assert_int_equal(request.clock, 2);
    assert_string_equal(request.text, "name");
    assert_int_equal(request.size, 8192);
    assert_int_equal(request.duration, 1500000000);
    assert_true(request.real == 2.5);
}

static void what_is_wrong_is_said_with_its_cure(void **state)
{
    static const struct {
        const char *words;
        const char *message;
    } wrong[] = {
        {"--folow", "there is no option --folow. Did you mean --follow?"},
        {"--color", "there is no option --color\n"},
        {"-y", "there is no option -y\n"},
        {"--follow=1", "--follow takes no value"},
        {"--help=1", "--help takes no value"},
        {"--limit", "--limit needs a value: N"},
        {"--limit 1.5", "--limit: '1.5' is not a whole number"},
        {"--limit 5G", "--limit: '5G' is not a whole number"},
        {"--clock sytem", "'sytem' is none of tsc, qpc, system. Did you mean system?"},
        {"--size 2", "--size: '2' is not a size such as 64K or 1.5GB of at least 4 KiB"},
        {"--after soon", "--after: 'soon' is not a duration"},
        {"--percent 0.5", "--percent: '0.5' is not a number from 1 to 100"},
        {"--json --csv", "--json and --csv exclude each other"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct request request;
        bool is_read;
        const char *said = read_words(&request, &is_read, wrong[i].words);

        assert_false(is_read);
        if (strncmp(said, "etwas made: ", 12) != 0 || strstr(said, wrong[i].message) == NULL ||
            strstr(said, "\nSee 'etwas made --help'.\n") == NULL) {
            fail_msg("%s: %s", wrong[i].words, said);
        }
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void numbers_with_units_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } counts[] = {{"0", 0},           {"1000", 1000},
                  {"1k", 1000},       {"2M", 2000000},
                  {"3G", 3000000000}, {"0x10", 16},
                  {"0XfF", 255},      {"18446744073709551615", UINT64_MAX}},
      sizes[] = {{"64", 65536},
                 {"64K", 65536},
                 {"64KiB", 65536},
                 {"1.5M", 1572864},
                 {"64kB", 64000},
                 {"1.5MB", 1500000},
                 {"20G", UINT64_C(20) << 30},
                 {"7B", 7},
                 {"0.5K", 512}},
      durations[] = {{"5", 5000000},         {"1.5ms", 1500000}, {"2s", 2000000000},
                     {"250us", 250000},      {"250µs", 250000},  {"250μs", 250000},
                     {"3min", 180000000000}, {"7ns", 7},         {"1h", 3600000000000},
                     {"0.000000001s", 1}};
    uint64_t value;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_true(etwas_value_count(counts[i].text, &value));
        assert_int_equal(value, counts[i].value);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(etwas_value_size(sizes[i].text, 1024, &value));
        assert_int_equal(value, sizes[i].value);
    }
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        assert_true(etwas_value_duration(durations[i].text, 1000000, &value));
        assert_int_equal(value, durations[i].value);
    }
}

static void what_is_no_number_is_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        " 1",
                                        "1 ",
                                        "-1",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "k",
                                        "1kk",
                                        "0x",
                                        "0x11111111111111111",
                                        "18446744073709551616",
                                        "1e3",
                                        "20000000000000000000G",
                                        "nan",
                                        "1,5"};
    uint64_t value;
    double real;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(etwas_value_count(wrong[i], &value));
        assert_false(etwas_value_size(wrong[i], 1, &value));
        assert_false(etwas_value_duration(wrong[i], 1, &value));
    }
    assert_false(etwas_value_count("1.5k", &value));
    assert_false(etwas_value_size("1k", 1, &value));
    assert_false(etwas_value_size("18446744073709551615K", 1, &value));
    assert_false(etwas_value_real("1e3", &real));
    assert_false(etwas_value_real("1.", &real));
    assert_false(etwas_value_real("", &real));
    assert_false(etwas_value_real(".", &real));
}

static void quotes_protect_commas_of_a_list(void **state)
{
    const char *list = "a,\"b,c\",\"say \"\"no\"\"\"";
    char item[16];

    (void)state;
    assert_true(etwas_value_item(&list, item, sizeof item));
    assert_string_equal(item, "a");
    assert_true(etwas_value_item(&list, item, sizeof item));
    assert_string_equal(item, "b,c");
    assert_true(etwas_value_item(&list, item, sizeof item));
    assert_string_equal(item, "say \"no\"");
    assert_false(etwas_value_item(&list, item, sizeof item));
    assert_null(list);
    for (const char *const *wrong =
             (const char *const[]){"a,", ",a", "\"a", "sixteen character", NULL};
         *wrong != NULL; wrong++) {
        list = *wrong;
        assert_false(etwas_value_item(&list, item, sizeof item));
        assert_non_null(*wrong);
    }
}

static void the_nearest_name_is_suggested(void **state)
{
    static const struct {
        const char *typed;
        const char *meant;
    } words[] = {{"dmup", "dump"}, {"dump", "dump"}, {"sta", "stat"}, {"recrd", "record"},
                 {"xyzzy", NULL},  {"", NULL},       {"s", NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct etwas_suggestion near = {0};

        for (size_t j = 0; etwas_commands[j] != NULL; j++) {
            etwas_suggest(&near, words[i].typed, etwas_commands[j]->name);
        }
        if (words[i].meant == NULL) {
            assert_null(near.name);
        } else {
            assert_non_null(near.name);
            assert_string_equal(near.name, words[i].meant);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_is_described),
        cmocka_unit_test(each_option_has_a_help_that_fits),
        cmocka_unit_test(a_name_means_the_same_in_each_command),
        cmocka_unit_test(no_sentence_is_long),
        cmocka_unit_test(values_reach_their_places),
        cmocka_unit_test(what_is_wrong_is_said_with_its_cure),
        cmocka_unit_test(numbers_with_units_are_read),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(quotes_protect_commas_of_a_list),
        cmocka_unit_test(the_nearest_name_is_suggested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
