/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program that logs an event from its function WORK, and one from the plug-in that the first
 * argument names, which is loaded when its provider is registered. If there is a second argument,
 * it then waits for the end of its standard input.
 */
#include <dlfcn.h>
#include <etwas/TraceLoggingProvider.h>
#include <stdio.h>

TRACELOGGING_DEFINE_PROVIDER(guests, "Etwas.Tests.GuestStacks",
                             (0x51b6a3d0, 0x7c28, 0x4e95, 0xa1, 0x0f, 0x3d, 0x8b, 0x62, 0xe7, 0x44,
                              0x19));

static void log_one(void)
{
    TraceLoggingWrite(guests, "Work");
}

/* Named otherwise in each program. No call is its last: it would not be on the stack. */
__attribute__((noinline)) void WORK(void)
{
    log_one();
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    void (*work_in_plugin)(void (*)(void));
    void *plugin;

    TraceLoggingRegister(guests);
    WORK();
    plugin = dlopen(argv[1], RTLD_NOW);
    *(void **)&work_in_plugin = plugin != NULL ? dlsym(plugin, "work_in_plugin") : NULL;
    if (work_in_plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    work_in_plugin(log_one);
    puts("worked");
    fflush(stdout);
    while (argc > 2 && getchar() != EOF) {
    }
    TraceLoggingUnregister(guests);
    return 0;
}
