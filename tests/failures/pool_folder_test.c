/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Folders for pool files that cannot be had: each refusal has the code of its cause, and the next
 * folder is taken where the user named none.
 */
#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "private_mounts.h"
#include "support/folder.h"

enum {
    SKIPPED = 77,
    MOST_FILES = 256, /* that may be open: set here */
};

static etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
    .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
    .buffer_size_kb = 4,
    .minimum_buffers = 8,
    .maximum_buffers = 8,
};

static uint32_t start(uint32_t where, const char *folder)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    uint32_t code;

    options.crash_safe = where;
    options.crash_safe_folder = folder;
    code = etwas_start("pool", NULL, &options, &session);
    if (code == ERROR_SUCCESS) {
        assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    }
    return code;
}

static void a_process_with_no_more_files_is_told_so(void **state)
{
    static int files[MOST_FILES];
    const char *folder = folder_path("pools");
    etwas_recovered recovered;
    char sentence[512];
    uint32_t count = 0;

    (void)state;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){MOST_FILES, MOST_FILES}), 0);
    assert_int_equal(start(ETWAS_CRASH_SAFE_POOL_FILE, folder), ERROR_SUCCESS);
    assert_int_equal(start(ETWAS_CRASH_SAFE_MEMFD, NULL), ERROR_SUCCESS);
    while (count < MOST_FILES && (files[count] = dup(STDOUT_FILENO)) >= 0) {
        count++;
    }
    assert_in_range(count, 1, MOST_FILES - 1);
    assert_int_equal(start(ETWAS_CRASH_SAFE_POOL_FILE, folder), ERROR_NO_SYSTEM_RESOURCES);
    assert_true(etwas_crash_safe_refusal(sentence, sizeof sentence) > 0);
    assert_non_null(strstr(sentence, "files"));
    assert_int_equal(start(ETWAS_CRASH_SAFE_POOL_FILE, NULL), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(start(ETWAS_CRASH_SAFE_MEMFD, NULL), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(etwas_recover("/proc/self/exe", 0, NULL, &recovered),
                     ERROR_NO_SYSTEM_RESOURCES);
    while (count-- > 0) {
        (void)close(files[count]);
    }
    assert_int_equal(start(ETWAS_CRASH_SAFE_POOL_FILE, folder), ERROR_SUCCESS);
}

static void make_read_only(const char *path)
{
    assert_int_equal(mount("tmpfs", path, "tmpfs", 0, "size=64k"), 0);
    assert_int_equal(mkdir(folder_path("place/etwas"), 0700), 0);
    assert_int_equal(mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
}

static void a_folder_for_reading_alone_is_passed_over(void **state)
{
    const char *const named[] = {folder_path("place/etwas"), folder_path("place/none")};
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    char path[4096];

    (void)state;
    assert_int_equal(mkdir(folder_path("place"), 0700), 0);
    make_read_only(folder_path("place"));
    for (size_t index = 0; index < 2; index++) {
        char sentence[512];

        assert_int_equal(start(ETWAS_CRASH_SAFE_POOL_FILE, named[index]), ERROR_ACCESS_DENIED);
        assert_true(etwas_crash_safe_refusal(sentence, sizeof sentence) > 0);
        assert_non_null(strstr(sentence, "written"));
    }
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder_path("place"), 1), 0);
    assert_int_equal(unsetenv("ETWAS_RUNTIME_DIR"), 0);
    assert_int_equal(etwas_start("pool", NULL, &options, &session), ERROR_SUCCESS);
    assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
    assert_null(strstr(path, "place"));
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
    assert_int_equal(umount(folder_path("place")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_process_with_no_more_files_is_told_so),
        FOLDER_TEST(a_folder_for_reading_alone_is_passed_over),
    };
    const char *reason = enter_private_mounts();

    if (reason != NULL) {
        for (size_t index = 0; index < sizeof tests / sizeof tests[0]; index++) {
            print_message("%s: skipped, %s\n", tests[index].name, reason);
        }
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
