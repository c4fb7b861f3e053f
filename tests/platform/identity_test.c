/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What extended items say of a process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/identity.h"

static void a_process_has_a_start_key_of_its_own_whatever_it_is_called(void **state)
{
    struct etwas_identity parent;
    struct etwas_identity renamed;
    int status;
    int child;

    (void)state;
    etwas_identity_read(&parent);
    assert_int_equal(parent.start_key & ((1u << 22) - 1), getpid());
    assert_true(parent.start_key >> 22 != 0);
    assert_int_equal(parent.user_id, geteuid());
    assert_int_equal(prctl(PR_SET_NAME, ") 1 2 ("), 0);
    etwas_identity_read(&renamed);
    assert_true(renamed.start_key == parent.start_key);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        etwas_identity_read(&renamed);
        _exit(renamed.start_key != parent.start_key && renamed.session_id == parent.session_id ? 0
                                                                                               : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_container_is_known_by_64_hexadecimal_digits_and_no_more(void **state)
{
    static const char *const paths[] = {"0::/system.slice/docker-" ID ".scope\n",
                                        "0::/docker/" ID "\n",
                                        "0::/kubepods/pod0a1b2c3d/cri-containerd-" ID ".scope", ID};
    static const char *const others[] = {"", "0::/\n", "0::/docker/" ID "0\n", ID "f",
                                         "0::/user.slice/user-1000.slice"};

    (void)state;
    for (size_t index = 0; index < sizeof paths / sizeof paths[0]; index++) {
        const char *found = etwas_container_id_in_path(paths[index]);

        assert_non_null(found);
        assert_memory_equal(found, ID, ETWAS_CONTAINER_BYTES);
    }
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++) {
        assert_null(etwas_container_id_in_path(others[index]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_has_a_start_key_of_its_own_whatever_it_is_called),
        cmocka_unit_test(a_container_is_known_by_64_hexadecimal_digits_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
