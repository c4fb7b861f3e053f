/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The mappings of processes, as they are cut, copied and removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/names/view_table.h"

enum {
    PROCESS = 100,
    CHILD = 101,
    NOW = 1000,
    KEY = 7,
    PLACES = 64,
    ROUNDS = 20000,
};

struct emitted {
    uint32_t count;
    struct etwas_view last;
};

static void remember(void *context, const struct etwas_view *view)
{
    struct emitted *emitted = context;

    emitted->count++;
    emitted->last = *view;
}

static bool is_there(const struct etwas_view_process *process, uint64_t address, uint64_t key)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < process->count; index++) {
        const struct etwas_view *view = &process->views[index];

        count += view->key == key && address >= view->begin && address < view->end;
    }
    assert_in_range(count, 0, 1);
    return count != 0;
}

static void expect_view(const struct etwas_view *view, uint64_t begin, uint64_t end,
                        uint64_t offset)
{
    assert_int_equal(view->begin, begin);
    assert_int_equal(view->end, end);
    assert_int_equal(view->offset, offset);
    assert_int_equal(view->key, KEY);
}

static void a_part_can_be_taken_out(void **state)
{
    const struct etwas_view view = {100, 200, 5000, KEY};
    struct emitted emitted = {0};
    struct etwas_view_table table;
    struct etwas_view_process *process;

    (void)state;
    assert_true(etwas_view_table_init(&table));
    process = etwas_view_table_begin(&table, PROCESS, NOW);
    etwas_view_add(process, &view);
    etwas_view_remove(process, 0, 100, remember, &emitted);
    etwas_view_remove(process, 200, UINT64_MAX, remember, &emitted);
    assert_int_equal(emitted.count, 0);
    etwas_view_remove(process, 120, 150, remember, &emitted);
    assert_int_equal(emitted.count, 1);
    expect_view(&emitted.last, 120, 150, 5020);
    assert_int_equal(process->count, 2);
    assert_true(is_there(process, 119, KEY));
    assert_false(is_there(process, 119, KEY + 1));
    assert_false(is_there(process, 120, KEY));
    assert_true(is_there(process, 150, KEY));
    assert_false(is_there(process, 200, KEY));
    etwas_view_remove(process, 150, 1000, remember, &emitted);
    expect_view(&emitted.last, 150, 200, 5050);
    etwas_view_remove(process, 0, UINT64_MAX, remember, &emitted);
    expect_view(&emitted.last, 100, 120, 5000);
    assert_int_equal(process->count, 0);
    etwas_view_table_free(&table);
}

static void mark(void *context, const struct etwas_view *view)
{
    uint8_t *places = context;

    for (uint64_t place = view->begin; place < view->end; place++) {
        assert_int_equal(places[place], 1);
        assert_int_equal(view->offset + (place - view->begin), place + 1000);
        places[place] = 0;
    }
}

/* At random, as a model of single places has it. */
static void each_address_is_emitted_as_often_as_it_was_mapped(void **state)
{
    uint8_t places[PLACES] = {0};
    struct etwas_view_table table;
    struct etwas_view_process *process;

    (void)state;
    srand(1);
    assert_true(etwas_view_table_init(&table));
    process = etwas_view_table_begin(&table, PROCESS, NOW);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = (uint64_t)rand() % PLACES;
        uint64_t end = begin + (uint64_t)rand() % (PLACES - begin) + 1;
        const struct etwas_view view = {begin, end, begin + 1000, KEY};

        etwas_view_remove(process, begin, end, mark, places);
        if (rand() % 2 == 0) {
            etwas_view_add(process, &view);
            memset(places + begin, 1, end - begin);
        }
        for (uint64_t place = 0; place < PLACES; place++) {
            assert_int_equal(places[place], is_there(process, place, KEY));
        }
    }
    etwas_view_table_free(&table);
}

static void a_child_has_what_its_parent_has(void **state)
{
    const struct etwas_view view = {100, 200, 0, KEY};
    struct emitted emitted = {0};
    struct etwas_view_table table;

    (void)state;
    assert_true(etwas_view_table_init(&table));
    etwas_view_table_fork(&table, CHILD, PROCESS, NOW);
    assert_null(etwas_view_table_find(&table, CHILD));
    etwas_view_add(etwas_view_table_begin(&table, PROCESS, NOW), &view);
    etwas_view_table_fork(&table, CHILD, PROCESS, NOW);
    etwas_view_remove(etwas_view_table_find(&table, PROCESS), 0, 1000, remember, &emitted);
    assert_true(is_there(etwas_view_table_find(&table, CHILD), 150, KEY));
    assert_int_equal(etwas_view_table_begin(&table, CHILD, NOW)->count, 0);
    etwas_view_table_end(&table, CHILD);
    assert_null(etwas_view_table_find(&table, CHILD));
    etwas_view_table_forget(&table);
    assert_null(etwas_view_table_find(&table, PROCESS));
    etwas_view_table_free(&table);
}

static void as_many_are_kept_as_there_is_room_for(void **state)
{
    struct etwas_view_table table;
    struct etwas_view_process *process;

    (void)state;
    assert_true(etwas_view_table_init(&table));
    process = etwas_view_table_begin(&table, PROCESS, NOW);
    for (uint64_t index = 0; index < ETWAS_VIEWS_MOST + 10; index++) {
        const struct etwas_view view = {index, index + 1, 0, KEY};

        etwas_view_add(process, &view);
    }
    assert_int_equal(process->count, ETWAS_VIEWS_MOST);
    etwas_view_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_can_be_taken_out),
        cmocka_unit_test(each_address_is_emitted_as_often_as_it_was_mapped),
        cmocka_unit_test(a_child_has_what_its_parent_has),
        cmocka_unit_test(as_many_are_kept_as_there_is_room_for),
    };

    return cmocka_run_group_tests_name("system view table", tests, NULL, NULL);
}
