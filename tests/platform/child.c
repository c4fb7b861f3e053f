/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int child_failed(const char *file, int line, const char *condition)
{
    (void)dprintf(STDERR_FILENO, "%s:%d: in the child: %s\n", file, line, condition);
    return 1;
}

static void expect_exit_0(pid_t process)
{
    int status = 0;
    pid_t ended;

    do {
        ended = waitpid(process, &status, 0);
    } while (ended < 0 && errno == EINTR);
    assert_int_equal(ended, process);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("the child ended with wait status %#x", (unsigned)status);
    }
}

void expect_child_passes(int (*body)(void))
{
    pid_t process = fork();

    assert_true(process >= 0);
    if (process == 0) {
        _exit(body());
    }
    expect_exit_0(process);
}

void child_begin(struct child *child, int (*body)(void))
{
    int ready[2];
    int end[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    child->process = fork();
    assert_true(child->process >= 0);
    if (child->process == 0) {
        int result = body();

        (void)close(end[1]);
        if (write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 0) {
            _exit(2);
        }
        _exit(result);
    }
    (void)close(ready[1]);
    (void)close(end[0]);
    child->end = end[1];
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
}

void child_end(struct child *child)
{
    assert_int_equal(close(child->end), 0);
    expect_exit_0(child->process);
}
