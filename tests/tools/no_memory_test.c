/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Every command that decodes says so when there is no memory for what describes an event, and exits
 * as it does where a file cannot be opened.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/guides.h"
#include "commands.h"
#include "event/schema_texts.h"
#include "exit.h"

/* A golden file (golden/README.md), which the build has unpacked. */
#define FILE_NAME GOLDEN "/finished.etl"

enum {
    MOST_ARGUMENTS = 6,
};

/* In place of commands.c: those that decode. */
const struct etwas_command *const etwas_commands[] = {
    &etwas_convert_command, &etwas_diff_command, &etwas_dump_command, &etwas_report_command,
    &etwas_spans_command,   &etwas_stat_command, &etwas_why_command,  NULL,
};
const struct etwas_guide etwas_guides[] = {{NULL, NULL, NULL}};

static const char *const calls[][MOST_ARGUMENTS] = {
    {"dump", FILE_NAME},
    {"stat", FILE_NAME},
    {"convert", "--to=ndjson", FILE_NAME},
    {"convert", "--to=otlp", FILE_NAME},
    {"spans", FILE_NAME},
    {"why", FILE_NAME},
    {"diff", FILE_NAME, "--against", FILE_NAME},
    {"report", "--json", FILE_NAME},
};

static bool has_memory;

struct etwas_schema_texts *__real_etwas_schema_texts_make(const etwas_schema *schema,
                                                          struct etwas_field_paths *paths);
struct etwas_schema_texts *__wrap_etwas_schema_texts_make(const etwas_schema *schema,
                                                          struct etwas_field_paths *paths);

struct etwas_schema_texts *__wrap_etwas_schema_texts_make(const etwas_schema *schema,
                                                          struct etwas_field_paths *paths)
{
    return has_memory ? __real_etwas_schema_texts_make(schema, paths) : NULL;
}

/* In a child, since a command is run once. What it says on standard error is in `said`. */
static int run(const char *const *call, char *said, size_t bytes)
{
    char *arguments[MOST_ARGUMENTS + 1] = {NULL};
    int count = 0;
    size_t used = 0;
    ssize_t got;
    int ends[2];
    int status;
    pid_t child;

    while (count < MOST_ARGUMENTS && call[count] != NULL) {
        arguments[count] = (char *)(uintptr_t)call[count];
        count++;
    }
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dup2(ends[1], STDERR_FILENO) < 0 || freopen("/dev/null", "w", stdout) == NULL) {
            _exit(127);
        }
        exit(etwas_command_find(arguments[0])->run(count, arguments));
    }
    (void)close(ends[1]);
    while ((got = read(ends[0], said + used, bytes - 1 - used)) > 0) {
        used += (size_t)got;
    }
    said[used] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void every_command_says_that_descriptions_had_no_memory(void **state)
{
    static const char words[] = "etwas: not enough memory to ";
    char said[4096];

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        has_memory = true;
        print_message("%s\n", calls[i][0]);
        (void)run(calls[i], said, sizeof said);
        assert_null(strstr(said, words));
        has_memory = false;
        assert_int_equal(run(calls[i], said, sizeof said), ETWAS_EXIT_FAILED);
        assert_non_null(strstr(said, words));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_says_that_descriptions_had_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
