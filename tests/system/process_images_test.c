/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of processes, and that ended processes leave no memory.
 */
#include <stdlib.h>
#include <string.h>

#include "system/made_up_processes.h"

/* ---- images ---------------------------------------------------------------------------------- */

static void begin_with_images(void)
{
    begin_with(ETWAS_EMIT_IMAGES);
    forget();
}

static void a_child_has_its_parents_images_until_it_runs_another_program(void **state)
{
    struct etwas_mapping other = shell;

    (void)state;
    begin_with_images();
    fork_at(100, 1, 10, 10);
    expect("100@3 by 1 Load in 10 400000 to 403000 /bin/sh\n"
           "100@3 by 1 Id in 10 7000000 .build-id/ab/cd0102030405060708090a010203040506"
           "07ef.debug\n"
           "100@3 by 1 Load in 10 7000000 to 7002000 /lib/a.so\n");
    name_at(101, 10, 10, "cat", true);
    expect("101@3 by 1 Unload in 10 400000 to 403000 /bin/sh\n"
           "101@3 by 1 Unload in 10 7000000 to 7002000 /lib/a.so\n");
    other.path = "/bin/cat";
    map_at(102, 10, &other);
    exit_at(103, 10, 10);
    expect("102@3 by 1 Load in 10 400000 to 403000 /bin/cat\n"
           "103@3 by 1 Unload in 10 400000 to 403000 /bin/cat\n");
    exit_at(104, 1, 1);
    expect("104@3 by 1 Unload in 1 400000 to 403000 /bin/sh\n"
           "104@3 by 1 Unload in 1 7000000 to 7002000 /lib/a.so\n");
}

static void what_is_mapped_over_is_unloaded(void **state)
{
    struct etwas_mapping over = {.address = 0x402000, .bytes = 0x1000, .path = "/lib/b.so"};

    (void)state;
    begin_with_images();
    map_at(100, 1, &shell);
    map_at(101, 1, &library);
    expect("");
    map_at(102, 1, &over);
    expect("102@3 by 1 Unload in 1 400000 to 403000 /bin/sh\n"
           "102@3 by 1 Load in 1 402000 to 403000 /lib/b.so\n");
}

static void parts_of_a_file_are_one_image(void **state)
{
    struct etwas_mapping part = shell;

    (void)state;
    begin_with_images();
    part.address = 0x402000;
    part.file_offset = 0x2000;
    part.bytes = 0x1000;
    map_at(100, 1, &part); /* of what is there */
    expect("");
    part.address = 0x405000;
    part.file_offset = 0x5000;
    map_at(101, 1, &part);
    expect("101@3 by 1 Unload in 1 400000 to 403000 /bin/sh\n"
           "101@3 by 1 Load in 1 400000 to 406000 /bin/sh\n");
    part.address = 0x9000; /* the same file elsewhere, where its first byte could not be */
    part.file_offset = 0xA000;
    map_at(102, 1, &part);
    expect("102@3 by 1 Load in 1 9000 to a000 /bin/sh at a000\n");
}

static void what_is_no_file_is_no_image(void **state)
{
    struct etwas_mapping mapping = {.address = 0x1000, .bytes = 0x1000, .path = "//anon"};

    (void)state;
    begin_with_images();
    map_at(100, 1, &mapping);
    mapping.path = "[heap]";
    map_at(101, 1, &mapping);
    mapping.path = "";
    map_at(102, 1, &mapping);
    mapping.path = "/x";
    mapping.bytes = 0;
    map_at(103, 1, &mapping);
    mapping.address = UINT64_MAX - 0xFFF;
    mapping.bytes = 0x2000;
    map_at(104, 1, &mapping);
    expect("");
    mapping = (struct etwas_mapping){.address = 0x1000, .bytes = 0x1000, .path = "[vdso]"};
    map_at(105, 1, &mapping);
    expect("105@3 by 1 Load in 1 1000 to 2000 [vdso]\n");
}

static void images_beyond_the_limit_are_emitted_and_not_kept(void **state)
{
    struct etwas_mapping mapping = {.bytes = 0x1000, .path = "/x"};

    (void)state;
    begin_with_images();
    for (uint64_t index = 0; index < ETWAS_IMAGE_LIST_MOST + 100; index++) {
        mapping.address = 0x10000000 + index * 0x2000;
        map_at(100, 1, &mapping);
        assert_true(was_emitted());
        forget();
    }
    assert_int_equal(etwas_process_find(&processes.table, 1)->images.count, ETWAS_IMAGE_LIST_MOST);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void ended_processes_leave_no_memory(void **state)
{
    (void)state;
    begin_with_images();
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t id = 2; id < 3000; id++) {
            fork_at(round * 100000 + id + 100, id / 2, id, id);
            fork_at(round * 100000 + id + 101, id, id, id + 10000);
            forget();
        }
        assert_int_equal(processes.table.processes.count, 3000);
        for (uint32_t id = 2; id < 3000; id++) {
            exit_at(round * 100000 + 50000, id, id + 10000);
            exit_at(round * 100000 + 50000, id, id);
            forget();
        }
        assert_int_equal(processes.table.processes.count, 2);
        assert_int_equal(processes.table.threads.count, 1);
        assert_int_equal(processes.table.files.count, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_child_has_its_parents_images_until_it_runs_another_program,
                                  end_test),
        cmocka_unit_test_teardown(what_is_mapped_over_is_unloaded, end_test),
        cmocka_unit_test_teardown(parts_of_a_file_are_one_image, end_test),
        cmocka_unit_test_teardown(what_is_no_file_is_no_image, end_test),
        cmocka_unit_test_teardown(images_beyond_the_limit_are_emitted_and_not_kept, end_test),
        cmocka_unit_test_teardown(ended_processes_leave_no_memory, end_test),
    };

    return cmocka_run_group_tests_name("process images", tests, NULL, NULL);
}
