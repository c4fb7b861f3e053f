/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Checks that need a process of their own: limits, rights, signals that kill, locks of somebody
 * else.
 */
#ifndef ETWAS_TESTS_PLATFORM_CHILD_H
#define ETWAS_TESTS_PLATFORM_CHILD_H

/*
 * Runs `body` in a fork's child and fails the test unless it returns 0: it lives and all its CHECKs
 * hold.
 */
void expect_child_passes(int (*body)(void));

/* A child that does `body`, then lives until child_end. Returns when `body` is done. */
struct child {
    int process;
    int end;
};
void child_begin(struct child *child, int (*body)(void));
void child_end(struct child *child);

/* In a body: cmocka's asserts belong to the parent, so a child says on stderr what is wrong. */
int child_failed(const char *file, int line, const char *condition);
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return child_failed(__FILE__, __LINE__, #condition);                                   \
        }                                                                                          \
    } while (0)

#endif
