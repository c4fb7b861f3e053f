/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Permissions on providers and sessions: there are none inside one process.
 */
#include <etwas/evntcons.h>

#include "session/fixture.h"

static void permissions_are_not_supported(void **state)
{
    etwas_guid guid = control_guid;
    uint32_t bytes = 7;

    (void)state;
    assert_int_equal(
        EventAccessControl(&guid, EventSecuritySetDACL, NULL, TRACELOG_GUID_ENABLE, TRUE),
        ERROR_NOT_SUPPORTED);
    assert_int_equal(EventAccessQuery(&guid, NULL, &bytes), ERROR_NOT_SUPPORTED);
    assert_int_equal(EventAccessRemove(&guid), ERROR_NOT_SUPPORTED);
    assert_int_equal(bytes, 7);
    assert_int_equal(EventAccessControl(NULL, 0, NULL, 0, FALSE), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessQuery(NULL, NULL, &bytes), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessRemove(NULL), ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permissions_are_not_supported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
