/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Cursors of `etwas ship`: as text and back, damaged in every byte, and in their folder, which
 * others may have a hand in.
 */
#include "ship/state/cursor.h"
#include "ship/state/state.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Each member has a value of its own, so that none is taken for another. */
static struct etwas_ship_cursor example(void)
{
    struct etwas_ship_cursor cursor;

    memset(&cursor, 0, sizeof cursor);
    cursor.key.session = UINT64_C(0xfedcba9876543210);
    cursor.key.part = 7;
    cursor.stage = ETWAS_SHIP_SENT_BLOCK;
    cursor.written_as = UINT64_C(0xFEDCBA9876543210);
    cursor.since_unix_s = -5;
    cursor.dialect.modern[0] = 0x81;
    cursor.dialect.modern[1] = 0x42;
    cursor.place = (struct etwas_ship_position){.offset = 65536, .pos = 12};
    cursor.events = 1000;
    cursor.buffers = 17;
    cursor.ahead = 3;
    cursor.bounds.from = cursor.place;
    cursor.bounds.until = (struct etwas_ship_position){.offset = 131072, .pos = 4};
    cursor.bounds.learned_until = 99;
    cursor.bounds.rows = 500;
    cursor.bounds.day = 20000;
    cursor.bounds.times.error_ns = 250;
    cursor.bounds.times.count = ETWAS_SHIP_POINTS;
    for (uint32_t i = 0; i < ETWAS_SHIP_POINTS; i++) {
        cursor.bounds.times.point[i].raw = INT64_MIN + i;
        cursor.bounds.times.point[i].unix_ns = INT64_MAX - i;
    }
    cursor.gone.is_there = cursor.end.is_there = true;
    for (uint32_t i = 0; i < ETWAS_SHIP_BUFFER_COLUMNS; i++) {
        cursor.gone.values[i] = UINT64_MAX - i;
        cursor.end.values[i] = i;
    }
    (void)strcpy(cursor.key.target, "http://db1:8123 etwas.event");
    (void)strcpy(cursor.host, "a host\nwith % and \x01\xff");
    (void)strcpy(cursor.file, " .etl");
    return cursor;
}

static void assert_same(const struct etwas_ship_cursor *one, const struct etwas_ship_cursor *other)
{
    char text[2][ETWAS_SHIP_CURSOR_BYTES];

    assert_string_equal(one->key.target, other->key.target);
    assert_string_equal(one->host, other->host);
    assert_string_equal(one->file, other->file);
    assert_int_equal(one->key.session, other->key.session);
    assert_int_equal(one->key.part, other->key.part);
    assert_true(one->written_as == other->written_as);
    assert_int_equal(one->stage, other->stage);
    assert_true(one->since_unix_s == other->since_unix_s);
    assert_memory_equal(&one->dialect, &other->dialect, sizeof one->dialect);
    assert_int_equal(one->place.offset, other->place.offset);
    assert_int_equal(one->place.pos, other->place.pos);
    assert_int_equal(one->events, other->events);
    assert_int_equal(one->buffers, other->buffers);
    assert_int_equal(one->ahead, other->ahead);
    assert_int_equal(one->bounds.until.offset, other->bounds.until.offset);
    assert_int_equal(one->bounds.learned_until, other->bounds.learned_until);
    assert_int_equal(one->bounds.rows, other->bounds.rows);
    assert_int_equal(one->bounds.day, other->bounds.day);
    assert_int_equal(one->bounds.times.count, other->bounds.times.count);
    assert_memory_equal(one->bounds.times.point, other->bounds.times.point,
                        sizeof one->bounds.times.point);
    assert_memory_equal(one->gone.values, other->gone.values, sizeof one->gone.values);
    assert_memory_equal(one->end.values, other->end.values, sizeof one->end.values);
    assert_int_equal(etwas_ship_cursor_write(one, text[0]),
                     etwas_ship_cursor_write(other, text[1]));
    assert_string_equal(text[0], text[1]);
}

/* ---- as text --------------------------------------------------------------------------------- */

static void a_cursor_is_read_as_it_was_written(void **state)
{
    struct etwas_ship_cursor cursor = example();
    struct etwas_ship_cursor again;
    char text[ETWAS_SHIP_CURSOR_BYTES];
    size_t bytes = etwas_ship_cursor_write(&cursor, text);

    (void)state;
    assert_int_equal(bytes, strlen(text));
    assert_true(etwas_ship_cursor_read(text, bytes, &again));
    assert_same(&cursor, &again);
    cursor = (struct etwas_ship_cursor){0};
    bytes = etwas_ship_cursor_write(&cursor, text);
    assert_true(etwas_ship_cursor_read(text, bytes, &again));
    assert_same(&cursor, &again);
}

static void the_longest_names_fit(void **state)
{
    struct etwas_ship_cursor cursor = example();
    struct etwas_ship_cursor again;
    char text[ETWAS_SHIP_CURSOR_BYTES];

    (void)state;
    memset(cursor.key.target, '\n', sizeof cursor.key.target - 1);
    memset(cursor.host, '%', sizeof cursor.host - 1);
    memset(cursor.file, ' ', sizeof cursor.file - 1);
    assert_true(etwas_ship_cursor_read(text, etwas_ship_cursor_write(&cursor, text), &again));
    assert_same(&cursor, &again);
}

static void no_byte_can_be_changed_and_none_left_out(void **state)
{
    const struct etwas_ship_cursor cursor = example();
    struct etwas_ship_cursor again;
    char text[ETWAS_SHIP_CURSOR_BYTES];
    char *copy;
    size_t bytes = etwas_ship_cursor_write(&cursor, text);

    (void)state;
    for (size_t at = 0; at < bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            text[at] = (char)(text[at] ^ 1 << bit);
            assert_false(etwas_ship_cursor_read(text, bytes, &again));
            text[at] = (char)(text[at] ^ 1 << bit);
        }
        /* In memory of its own, so that a byte too much that is read is seen. */
        copy = malloc(at + 1);
        memcpy(copy, text, at);
        assert_false(etwas_ship_cursor_read(copy, at, &again));
        free(copy);
    }
    text[bytes] = '\n';
    assert_false(etwas_ship_cursor_read(text, bytes + 1, &again));
    assert_true(etwas_ship_cursor_read(text, bytes, &again));
}

/* ---- in a folder ----------------------------------------------------------------------------- */

struct place {
    char folder[64];
    struct etwas_ship_state *state;
};

static int open_place(void **state)
{
    static struct place place;

    (void)strcpy(place.folder, "/tmp/ship_cursor_XXXXXX");
    if (mkdtemp(place.folder) == NULL) {
        return -1;
    }
    place.state = etwas_ship_state_open(place.folder);
    *state = &place;
    return place.state == NULL ? -1 : 0;
}

static int close_place(void **state)
{
    struct place *place = *state;
    char command[96];

    etwas_ship_state_close(place->state);
    (void)snprintf(command, sizeof command, "rm -rf %s", place->folder);
    return system(command);
}

static void a_cursor_is_found_by_its_file_and_target(void **state)
{
    struct place *place = *state;
    struct etwas_ship_cursor cursor = example();
    struct etwas_ship_cursor again;
    struct etwas_ship_key other = cursor.key;

    assert_false(etwas_ship_state_read(place->state, &cursor.key, &again));
    assert_true(etwas_ship_state_write(place->state, &cursor));
    cursor.events++;
    assert_true(etwas_ship_state_write(place->state, &cursor));
    assert_true(etwas_ship_state_read(place->state, &cursor.key, &again));
    assert_same(&cursor, &again);
    other.part++;
    assert_false(etwas_ship_state_read(place->state, &other, &again));
    other = cursor.key;
    other.target[0] = 'x';
    assert_false(etwas_ship_state_read(place->state, &other, &again));
    etwas_ship_state_remove(place->state, &cursor.key);
    assert_false(etwas_ship_state_read(place->state, &cursor.key, &again));
}

/* As the one cursor of its folder; `path` becomes that of its file. */
static void write_alone(const struct place *place, const struct etwas_ship_cursor *cursor,
                        char path[128])
{
    char command[128];
    FILE *names;

    assert_true(etwas_ship_state_write(place->state, cursor));
    (void)snprintf(command, sizeof command, "ls %s/*.cursor", place->folder);
    names = popen(command, "r");
    assert_non_null(fgets(path, 128, names));
    path[strcspn(path, "\n")] = '\0';
    (void)pclose(names);
}

static void one_that_makes_no_sense_is_set_aside(void **state)
{
    struct place *place = *state;
    struct etwas_ship_cursor cursor = example();
    struct etwas_ship_cursor again;
    char path[128];
    char aside[160];

    write_alone(place, &cursor, path);
    assert_int_equal(truncate(path, 100), 0);
    assert_false(etwas_ship_state_read(place->state, &cursor.key, &again));
    (void)snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(access(aside, F_OK), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(etwas_ship_state_write(place->state, &cursor));
    assert_true(etwas_ship_state_read(place->state, &cursor.key, &again));
}

static void links_pipes_and_folders_are_no_cursors(void **state)
{
    struct place *place = *state;
    struct etwas_ship_cursor cursor = example();
    struct etwas_ship_cursor again;
    char path[128];
    char kept[128];

    write_alone(place, &cursor, path);
    (void)snprintf(kept, sizeof kept, "%s/kept", place->folder);
    assert_int_equal(rename(path, kept), 0);
    assert_int_equal(symlink(kept, path), 0);
    assert_false(etwas_ship_state_read(place->state, &cursor.key, &again));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(etwas_ship_state_read(place->state, &cursor.key, &again));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(etwas_ship_state_read(place->state, &cursor.key, &again));
    assert_true(etwas_ship_state_write(place->state, &cursor));
    assert_true(etwas_ship_state_read(place->state, &cursor.key, &again));
}

static bool count(void *context, const struct etwas_ship_cursor *cursor, int64_t age_s)
{
    uint32_t *parts = context;

    assert_true(age_s >= -1 && age_s < 1000);
    *parts |= 1U << cursor->key.part;
    return true;
}

static void all_of_a_target_are_gone_through(void **state)
{
    struct place *place = *state;
    struct etwas_ship_cursor cursor = example();
    char target[ETWAS_SHIP_CURSOR_NAME_BYTES];
    uint32_t parts = 0;

    (void)strcpy(target, cursor.key.target);
    for (cursor.key.part = 1; cursor.key.part <= 3; cursor.key.part++) {
        assert_true(etwas_ship_state_write(place->state, &cursor));
    }
    cursor.key.target[0] = 'x';
    assert_true(etwas_ship_state_write(place->state, &cursor));
    assert_true(etwas_ship_state_each(place->state, target, count, &parts));
    assert_int_equal(parts, 0xE);
}

static void one_shipper_has_a_folder_and_nobody_else_writes_there(void **state)
{
    struct place *place = *state;
    char inner[128];

    assert_null(etwas_ship_state_open(place->folder));
    (void)snprintf(inner, sizeof inner, "%s/a/b", place->folder);
    assert_int_equal(chmod(place->folder, 0700), 0);
    etwas_ship_state_close(etwas_ship_state_open(inner));
    assert_int_equal(access(inner, F_OK), 0);
    assert_int_equal(chmod(inner, 0770), 0);
    assert_null(etwas_ship_state_open(inner));
    assert_null(etwas_ship_state_open("/dev/null/none"));
    assert_null(etwas_ship_state_open(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cursor_is_read_as_it_was_written),
        cmocka_unit_test(the_longest_names_fit),
        cmocka_unit_test(no_byte_can_be_changed_and_none_left_out),
        cmocka_unit_test_setup_teardown(a_cursor_is_found_by_its_file_and_target, open_place,
                                        close_place),
        cmocka_unit_test_setup_teardown(one_that_makes_no_sense_is_set_aside, open_place,
                                        close_place),
        cmocka_unit_test_setup_teardown(links_pipes_and_folders_are_no_cursors, open_place,
                                        close_place),
        cmocka_unit_test_setup_teardown(all_of_a_target_are_gone_through, open_place, close_place),
        cmocka_unit_test_setup_teardown(one_shipper_has_a_folder_and_nobody_else_writes_there,
                                        open_place, close_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
