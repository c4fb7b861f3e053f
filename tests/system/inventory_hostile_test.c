/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The inventory of machines that make no sense: it never waits, always ends, and every record stays
 * in its room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "inventory_paths.h"
#include "inventory_tree.h"
#include "system/inventory/inventory_internal.h"

enum {
    CPU = 10,
    NIC = 13,
    SERVICE = 15,
    IRQ = 21,
    PLATFORM = 25,
    SMALL_ROOM = 512,
};

enum {
    FILES = sizeof inventory_paths / sizeof inventory_paths[0]
};

/* Opening one for reading would wait for a writer. */
static void pipes_are_not_opened(void **state)
{
    (void)state;
    for (size_t index = 0; index < FILES; index++) {
        tree_fifo(inventory_paths[index]);
    }
    emit_inventory();
    assert_int_equal(count_emitted(CPU), 1);
    assert_int_equal(count_emitted(PLATFORM) + count_emitted(NIC) + count_emitted(IRQ), 0);
}

static void folders_and_circles_of_links_are_no_files(void **state)
{
    (void)state;
    for (size_t index = 0; index < FILES; index += 2) {
        tree_folder(inventory_paths[index]);
    }
    for (size_t index = 1; index < FILES; index += 2) {
        tree_link(inventory_paths[index], strrchr(inventory_paths[index], '/') + 1);
    }
    emit_inventory();
    assert_int_equal(count_emitted(CPU), 1);
    assert_int_equal(count_emitted(PLATFORM) + count_emitted(NIC) + count_emitted(IRQ), 0);
}

static void devices_are_not_opened(void **state)
{
    (void)state;
    for (size_t index = 0; index < FILES; index++) {
        tree_link(inventory_paths[index], "/dev/urandom");
    }
    emit_inventory();
    assert_int_equal(count_emitted(CPU), 1);
    assert_int_equal(count_emitted(PLATFORM) + count_emitted(NIC) + count_emitted(IRQ), 0);
}

static void of_a_file_only_the_beginning_is_read(void **state)
{
    (void)state;
    for (size_t index = 0; index < FILES; index++) {
        tree_hole(inventory_paths[index]);
    }
    emit_inventory();
    (void)expect_text(only(PLATFORM), 0, "7");
}

static void every_file_may_say_this(const char *text)
{
    for (size_t index = 0; index < FILES; index++) {
        tree_file(inventory_paths[index], text);
    }
    emit_inventory();
    assert_int_equal(count_emitted(CPU), 1);
    emit_root(tree_root(), SMALL_ROOM);
    assert_int_equal(count_emitted(CPU), 1);
}

static void nonsense_is_emitted_as_far_as_it_goes(void **state)
{
    char text[8192];

    (void)state;
    every_file_may_say_this("");
    every_file_may_say_this("\n\n\n");
    every_file_may_say_this("99999999999999999999999999999999");
    every_file_may_say_this("-1");
    every_file_may_say_this("0-4294967295,-,:,\\,.1");
    every_file_may_say_this("1:1:1:1:1:1:1:1:1:1:1:1:1:1");
    every_file_may_say_this("27 1 8:1 / /\\777\\0 rw - ext4");
    every_file_may_say_this("27 1 8:1 / / rw - ext4 /dev/sda1 rw\n- -\n - - - - - - - -\n");
    every_file_may_say_this("connected");
    every_file_may_say_this("cpu MHz");
    every_file_may_say_this("MemTotal:");
    every_file_may_say_this("nameserver ");
    every_file_may_say_this("Description=");
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = 0;
    every_file_may_say_this(text);
    memset(text, '\xFF', sizeof text - 1);
    every_file_may_say_this(text);
}

static void what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    tree_file("sys/class/dmi/id/sys_vendor", "a\xFF\x62\n");
    emit_inventory();
    assert_int_equal(emitted_u16(only(PLATFORM), 0), 'a');
    assert_int_equal(emitted_u16(only(PLATFORM), 2), 0xFFFD);
    assert_int_equal(emitted_u16(only(PLATFORM), 4), 'b');
}

static void slices_in_slices_have_an_end(void **state)
{
    char path[512] = "sys/fs/cgroup/system.slice";

    (void)state;
    for (int depth = 0; depth < 20; depth++) {
        strcat(path, "/x.slice");
    }
    strcat(path, "/deep.service/cgroup.procs");
    tree_file(path, "5\n");
    tree_file("sys/fs/cgroup/system.slice/x.slice/near.service/cgroup.procs", "6\n");
    emit_inventory();
    assert_int_equal(emitted_u32(only(SERVICE), 0), 6);
}

static void count_name(struct etwas_inventory *inventory, const char *name, void *context)
{
    (void)inventory;
    (void)name;
    *(uint32_t *)context += 1;
}

static void a_bounded_number_of_files_is_read(void **state)
{
    struct etwas_inventory inventory = {.root = tree_root(), .steps_left = 3};
    char line[ETWAS_INVENTORY_LINE_BYTES];
    uint32_t names = 0;

    (void)state;
    tree_file("folder/a", "1");
    tree_file("folder/b", "1");
    tree_file("folder/c", "1");
    etwas_inventory_each(&inventory, count_name, &names, "folder");
    assert_true(names <= 2); /* the folder itself is one step, "." and ".." too */
    assert_int_equal(inventory.steps_left, 0);
    assert_false(etwas_inventory_line(&inventory, line, sizeof line, "folder/a"));
    assert_string_equal(line, "");
}

static void paths_that_are_too_long_lead_nowhere(void **state)
{
    struct etwas_inventory inventory = {.root = tree_root(), .steps_left = 9};
    char name[2 * ETWAS_INVENTORY_PATH_BYTES];
    char line[ETWAS_INVENTORY_LINE_BYTES];
    uint32_t names = 0;

    (void)state;
    memset(name, '/', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_false(etwas_inventory_line(&inventory, line, sizeof line, "%s", name));
    assert_false(etwas_inventory_link(&inventory, line, sizeof line, "%s", name));
    etwas_inventory_each(&inventory, count_name, &names, "%s", name);
    assert_int_equal(names, 0);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(pipes_are_not_opened),
        WITH_TREE(folders_and_circles_of_links_are_no_files),
        WITH_TREE(devices_are_not_opened),
        WITH_TREE(of_a_file_only_the_beginning_is_read),
        WITH_TREE(nonsense_is_emitted_as_far_as_it_goes),
        WITH_TREE(what_is_not_utf8_is_replaced),
        WITH_TREE(slices_in_slices_have_an_end),
        WITH_TREE(a_bounded_number_of_files_is_read),
        WITH_TREE(paths_that_are_too_long_lead_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
