/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What an `etwas` that was built without libdw says where it would have been needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "address/symbols.h"
#include "address/unwind.h"
#include "event/event.h"

/* Nothing is recorded here. */
bool etwas_event_is_user_stack(const EVENT_RECORD *record)
{
    (void)record;
    return false;
}

/* What is written to standard error meanwhile, in `said`. */
static void listen_to(void (*act)(void), char *said, size_t room)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    size_t bytes;

    assert_non_null(file);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    act();
    assert_true(dup2(before, STDERR_FILENO) >= 0 && close(before) == 0);
    rewind(file);
    bytes = fread(said, 1, room - 1, file);
    said[bytes] = '\0';
    assert_int_equal(fclose(file), 0);
}

static void look_for_symbols(void)
{
    bool has_changed = true;

    assert_null(etwas_symbols_open("/proc/self/exe", NULL, 0, &has_changed));
    assert_null(etwas_symbols_open("/proc/self/exe", NULL, 0, &has_changed));
    assert_false(has_changed);
}

static void unwind(void)
{
    const struct etwas_user_stack stack = {.count = 0};
    uint64_t frames[ETWAS_UNWIND_FRAMES];

    assert_int_equal(etwas_unwind(NULL, &stack, 0, frames), 0);
    assert_int_equal(etwas_unwind(NULL, &stack, 0, frames), 0);
}

static void what_is_missing_is_said_once_with_what_to_install(void **state)
{
    char said[512];

    (void)state;
    listen_to(look_for_symbols, said, sizeof said);
    assert_string_equal(said,
                        "etwas: note: functions have no names: this etwas was built without libdw. "
                        "On Debian install libdw-dev and build it again\n");
    listen_to(unwind, said, sizeof said);
    assert_string_equal(
        said, "etwas: note: the stacks of programs (--dwarf) are not unwound: this etwas was built "
              "without libdw. On Debian install libdw-dev and build it again\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_said_once_with_what_to_install),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
