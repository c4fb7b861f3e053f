/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program with known heap calls, in every place a program can make them from.
 *
 * usage: known FILE ROUNDS      FILE gets what it did; FILE.child what its forked child did
 */

#include "record.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 4,
    HANDLERS = 20,
    TICK_US = 500
};

static pthread_key_t key;
static volatile sig_atomic_t handled;

__attribute__((constructor)) static void program_constructor(void)
{
    record_section("program-constructor");
}

__attribute__((destructor)) static void program_destructor(void)
{
    record_section("program-destructor");
}

static void at_exit(void)
{
    record_section("atexit");
}

static void at_thread_end(void *value)
{
    (void)value;
    record_section("thread-data-destructor");
}

static void *run_thread(void *value)
{
    (void)pthread_setspecific(key, value);
    record_section("thread");
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];

    if (pthread_key_create(&key, at_thread_end) != 0) {
        abort();
    }
    for (int index = 0; index < THREADS; index++) {
        if (pthread_create(&threads[index], NULL, run_thread, &key) != 0) {
            abort();
        }
    }
    for (int index = 0; index < THREADS; index++) {
        (void)pthread_join(threads[index], NULL);
    }
}

static void handle(int number)
{
    if (number == SIGUSR1) {
        record_section("raised-signal");
    } else if (handled < HANDLERS) {
        record_section("timer-signal");
        handled++;
    }
}

/* The handler interrupts this loop, which does nothing that a handler must not interrupt. */
static void run_handlers(void)
{
    const struct itimerval ticks = {{0, TICK_US}, {0, TICK_US}};
    const struct itimerval none = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle};

    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
    (void)raise(SIGUSR1);
    (void)setitimer(ITIMER_REAL, &ticks, NULL);
    while (handled < HANDLERS) {
    }
    (void)setitimer(ITIMER_REAL, &none, NULL);
}

static void run_child(const char *file)
{
    static char name[4096];
    pid_t child;

    (void)snprintf(name, sizeof name, "%s.child", file);
    child = fork();
    if (child == 0) {
        /* Sections before the fork are the parent's: their thread is not in the child's trace. */
        record_section("fork-child");
        record_to(name);
        record_write();
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) {
        abort();
    }
}

int main(int count, char *arguments[])
{
    if (count != 3) {
        return 2;
    }
    record_to(arguments[1]);
    record_rounds(atoi(arguments[2]));
    (void)atexit(at_exit);
    record_section("main");
    run_handlers();
    run_threads();
    run_child(arguments[1]);
    return 0;
}
