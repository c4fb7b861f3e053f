/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the tests of the registry share: a folder of its own for each, and other processes. */
#ifndef ETWAS_TESTS_REGISTRY_FIXTURE_H
#define ETWAS_TESTS_REGISTRY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <sys/types.h>

#include "registry/host_session.h"
#include "support/folder.h"

int registry_setup(void **state);
int registry_teardown(void **state);

/* A test with an empty folder as registry, which the first user of it makes. */
#define REGISTRY_TEST(test) cmocka_unit_test_setup_teardown(test, registry_setup, registry_teardown)

/* The name of the registry's folder. */
const char *registry_folder(void);

/* etwas_held_clear in it. */
bool clear_file(const char *name);

/* Returns how many files in it have names that begin like this. */
uint32_t files_like(const char *beginning);

/* ---- other processes ------------------------------------------------------------------------- */

struct child {
    pid_t process;
    int from; /* it says something by a byte */
    int to;   /* and receives one */
};

/* Runs `body` in a process of its own, which ends with what it returns. */
struct child child_start(int (*body)(struct child *self, void *context), void *context);

/*
 * On either side: says a byte, and waits for one; -1: the other one is gone. Minutes of silence end
 * the process.
 */
void say(const struct child *other, char byte);
int receive_byte(const struct child *other);

/* Lets it end, and returns what its body did; the signal's negative number if it was one. */
int child_end(struct child *child);
void child_kill(struct child *child);

/* Waits until it is stopped, not only signalled. */
void child_stop(const struct child *child);

/*
 * Lets other users into the folder and to the sockets in it, as no program should; so what is
 * refused then is refused by us. False: this is not root's process, which alone can be another
 * user's.
 */
bool let_others_in(void);

/* In a child: it is another user's from here on. */
void become_another_user(void);

/* How many descriptors of this process are open. */
uint32_t count_descriptors(void);

/* ---- sessions -------------------------------------------------------------------------------- */

etwas_guid guid_of(uint32_t number);

/* An open session's entry, with nothing that it enables. */
struct etwas_registry_entry *entry_of(const etwas_wchar *name, uint32_t number);

/* Opens it; what it says is that it succeeded. */
uint32_t open_session(struct etwas_registry_host *host, const etwas_wchar *name, uint32_t number);

#endif
