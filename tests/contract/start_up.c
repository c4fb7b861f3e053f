/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Linking costs nothing (I12): a program that has the library and calls nothing of it. Before the
 * first constructor runs it forbids itself every system call but its end, and from then on it
 * watches whether anything asks for the environment. The test is that it comes to its end and
 * nothing did.
 */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SKIPPED = 77,
};

TRACELOGGING_DEFINE_PROVIDER(provider, "Etwas.Test.StartUp",
                             (0x1f0a6b52, 0x37c4, 0x4e19, 0x8d, 0x03, 0x51, 0xb2, 0x6a, 0x90, 0xfe,
                              0x14));

extern char **environ;

static int questions;
static int refused;

static char *look_up(const char *name)
{
    size_t length = strlen(name);

    questions++;
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return NULL;
}

/* Seen by the libraries in place of the C library's. */
#pragma GCC visibility push(default)

char *getenv(const char *name)
{
    return look_up(name);
}

char *secure_getenv(const char *name)
{
    return look_up(name);
}

#pragma GCC visibility pop

static void forbid_system_calls(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof steps[0], .filter = steps};

    refused = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

/* The loader is done, and no constructor has run. */
__attribute__((section(".preinit_array"),
               used)) static void (*const before_constructors)(void) = forbid_system_calls;

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1) {
        /* Never so here: the linker keeps a library that is called. */
        (void)TraceLoggingRegister(provider);
        (void)etwas_start("never", NULL, NULL, NULL);
    }
    return refused != 0 ? SKIPPED : questions;
}
