/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Lines of `maps`, as the kernel writes them and as it does not, and keys whose names are emitted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "system/names/file_views.h"

static bool parse(const char *text, struct etwas_file_view *view)
{
    static char line[512];

    (void)snprintf(line, sizeof line, "%s", text);
    return etwas_file_view_parse(line, view);
}

static void a_line_says_what_is_mapped(void **state)
{
    struct etwas_file_view view;

    (void)state;
    assert_true(parse("7f00a000-7f00d000 r--p 00002000 fe:01 1234                /usr/lib/a b.so\n",
                      &view));
    assert_int_equal(view.begin, 0x7f00a000);
    assert_int_equal(view.bytes, 0x3000);
    assert_int_equal(view.offset, 0x2000);
    assert_int_equal(view.key, etwas_file_key(0xfe << 20 | 1, 1234));
    assert_string_equal(view.path, "/usr/lib/a b.so");
}

static void what_is_no_file_is_passed_over(void **state)
{
    static const char *const lines[] = {
        "",
        "\n",
        "7f00a000-7f00d000 rw-p 00000000 00:00 0\n",
        "7f00a000-7f00d000 rw-p 00000000 00:00 0    [heap]\n",
        "7f00d000-7f00a000 r--p 00000000 fe:01 12   /a\n",
        "7f00a000-7f00a000 r--p 00000000 fe:01 12   /a\n",
        "7f00a000 r--p 00000000 fe:01 12   /a\n",
        "7f00a000-7f00d000 r--p 00000000 fe:01",
        "7f00a000-7f00d000 r--p 00000000 fe 12   /a\n",
    };
    struct etwas_file_view view;

    (void)state;
    for (size_t index = 0; index < sizeof lines / sizeof *lines; index++) {
        assert_false(parse(lines[index], &view));
    }
}

static void a_key_is_added_once(void **state)
{
    struct etwas_file_keys keys;
    uint32_t added = 0;

    (void)state;
    assert_true(etwas_file_keys_init(&keys));
    assert_false(etwas_file_keys_has(&keys, 5));
    assert_true(etwas_file_keys_add(&keys, 5));
    assert_false(etwas_file_keys_add(&keys, 5));
    assert_true(etwas_file_keys_has(&keys, 5));
    assert_true(etwas_file_keys_add(&keys, UINT64_C(5) << 32)); /* of the same bucket */
    for (uint64_t key = 10; key < 100000; key++) {
        added += etwas_file_keys_add(&keys, key);
    }
    assert_int_equal(added, (1 << 16) - 2);
    etwas_file_keys_free(&keys);
}

static void keys_of_different_files_are_different(void **state)
{
    (void)state;
    assert_int_not_equal(etwas_file_key(1, 0), etwas_file_key(0, 1));
    assert_int_not_equal(etwas_file_key(8 << 20, 7), etwas_file_key(8 << 20 | 1, 7));
    assert_true(etwas_file_key(UINT32_MAX, UINT64_MAX) <= INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_what_is_mapped),
        cmocka_unit_test(what_is_no_file_is_passed_over),
        cmocka_unit_test(a_key_is_added_once),
        cmocka_unit_test(keys_of_different_files_are_different),
    };

    return cmocka_run_group_tests_name("system file views", tests, NULL, NULL);
}
