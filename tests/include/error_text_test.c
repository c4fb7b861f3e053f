/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Every code of <etwas/winerror.h> has a text of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/etwas.h>

enum {
    CODES = 128
};

static void every_code_has_a_text_of_its_own(void **state)
{
    FILE *header = fopen(WINERROR_H, "r");
    const char *texts[CODES];
    size_t count = 0;
    char line[256];

    (void)state;
    assert_non_null(header);
    while (fgets(line, sizeof line, header) != NULL) {
        char name[64];
        unsigned code;

        if (sscanf(line, "#define %63[A-Z_]%*1[ ]%i", name, (int *)&code) != 2) {
            continue;
        }
        assert_true(count < CODES);
        texts[count] = etwas_error_text(code);
        if (strcmp(texts[count], etwas_error_text(UINT32_MAX)) == 0) {
            fail_msg("%s has no text", name);
        }
        for (size_t other = 0; other < count; other++) {
            if (strcmp(texts[count], texts[other]) == 0) {
                fail_msg("%s has the text of another code", name);
            }
        }
        count++;
    }
    (void)fclose(header);
    assert_true(count > 40);
}

static void what_is_no_code_is_an_unknown_error(void **state)
{
    (void)state;
    assert_string_equal(etwas_error_text(ERROR_SUCCESS), "success");
    assert_string_equal(etwas_error_text(4), "unknown error");
    assert_string_equal(etwas_error_text(UINT32_MAX), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_text_of_its_own),
        cmocka_unit_test(what_is_no_code_is_an_unknown_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
