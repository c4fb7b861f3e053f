/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The hash table of the tools beside a plain model: random operations on a few thousand keys, many
 * of which share a hash, or lie next to each other around the table's end.
 */
#include "math/array.h"
#include "math/hash_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
    KEYS = 3000,
    OPERATIONS = 200000,
    LOOK_AT_ALL = 1000, /* operations from one comparison with the whole model to the next */
};

/* An entry's number is anything but 0: the test never uses it as an index. */
struct model {
    uint32_t numbers[KEYS]; /* by key; 0: the key is not in the table */
    uint32_t count;
};

typedef uint64_t hash_function(uint32_t key);

static uint64_t random_number(void)
{
    static uint64_t state = 31;

    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 33;
}

static uint64_t hash_itself(uint32_t key)
{
    return key;
}

static uint64_t hash_shared(uint32_t key)
{
    return key % 7 * 1000;
}

/* Mixed, all are next to the last slots: the inverse of the table's factor, times such a value. */
static uint64_t hash_at_end(uint32_t key)
{
    uint64_t inverse = 1;

    for (int i = 0; i < 6; i++) {
        inverse *= 2 - UINT64_C(0x9E3779B97F4A7C15) * inverse;
    }
    return (UINT64_MAX - ((uint64_t)(key % 64) << 32)) * inverse;
}

/* A number tells its key, so that keys are compared as callers of the table do. */
static uint32_t find_key(const struct etwas_hash_index *table, hash_function *hash, uint32_t key,
                         struct etwas_hash_place *place)
{
    uint32_t number = etwas_hash_index_first(table, hash(key), place);

    while (number != 0 && number % KEYS != key) {
        number = etwas_hash_index_next(table, place);
    }
    return number;
}

static void check_all(const struct etwas_hash_index *table, hash_function *hash,
                      const struct model *model)
{
    struct etwas_hash_place place;

    assert_int_equal(table->count, model->count);
    assert_true(2 * table->count <= table->capacity);
    for (uint32_t key = 0; key < KEYS; key++) {
        assert_int_equal(find_key(table, hash, key, &place), model->numbers[key]);
    }
}

/* Adds, replaces or removes a key; `grows` says which is more frequent. */
static void change_one(struct etwas_hash_index *table, hash_function *hash, struct model *model,
                       bool grows)
{
    uint32_t key = (uint32_t)random_number() % KEYS;
    uint32_t number = (uint32_t)(1 + random_number() % 1000) * KEYS + key;
    struct etwas_hash_place place;
    uint32_t found = find_key(table, hash, key, &place);
    bool adds = random_number() % 4 != 0 ? grows : !grows;

    assert_int_equal(found, model->numbers[key]);
    if (found == 0 && adds) {
        assert_true(etwas_hash_index_add(table, hash(key), number));
        model->count++;
        model->numbers[key] = number;
    } else if (found != 0 && adds) {
        etwas_hash_index_replace(table, &place, number);
        model->numbers[key] = number;
    } else if (found != 0) {
        etwas_hash_index_remove(table, &place);
        model->count--;
        model->numbers[key] = 0;
    }
}

static void check_operations(hash_function *hash, uint32_t operations)
{
    struct etwas_hash_index table = {0};
    struct model model = {{0}, 0};

    check_all(&table, hash, &model);
    for (uint32_t i = 0; i < operations; i++) {
        change_one(&table, hash, &model, i / (operations / 8) % 2 == 0);
        if (i % LOOK_AT_ALL == 0) {
            check_all(&table, hash, &model);
        }
    }
    check_all(&table, hash, &model);
    etwas_hash_index_clear(&table);
    check_all(&table, hash, &(struct model){{0}, 0});
}

static void random_operations_do_as_the_model(void **state)
{
    (void)state;
    check_operations(hash_itself, OPERATIONS);
}

static void keys_that_share_a_hash_are_told_apart(void **state)
{
    (void)state;
    check_operations(hash_shared, OPERATIONS / 20);
}

static void slots_go_round_the_end(void **state)
{
    (void)state;
    check_operations(hash_at_end, OPERATIONS / 20);
}

static void small_keys_spread(void **state)
{
    struct etwas_hash_index table = {0};
    uint32_t longest = 0;

    (void)state;
    for (uint32_t key = 0; key < 100000; key++) {
        assert_true(etwas_hash_index_add(&table, (uint64_t)key << 32 | key % 16, key + 1));
    }
    for (uint32_t i = 0, run = 0; i < table.capacity; i++) {
        run = table.slots[i].number != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 64);
    etwas_hash_index_clear(&table);
}

static void an_array_grows(void **state)
{
    uint32_t *array = NULL;
    size_t capacity = 0;
    volatile size_t too_many = SIZE_MAX / 2; /* the compiler is not to know it */
    size_t count = 0;

    (void)state;
    for (; count < 10000; count++) {
        assert_true(etwas_array_reserve(&array, &capacity, count + 1, sizeof *array));
        assert_true(capacity > count);
        array[count] = (uint32_t)count;
    }
    assert_false(etwas_array_reserve(&array, &capacity, too_many, sizeof *array));
    assert_true(capacity >= count);
    while (count > 0) {
        count--;
        assert_int_equal(array[count], count);
    }
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_do_as_the_model),
        cmocka_unit_test(keys_that_share_a_hash_are_told_apart),
        cmocka_unit_test(slots_go_round_the_end),
        cmocka_unit_test(small_keys_spread),
        cmocka_unit_test(an_array_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
