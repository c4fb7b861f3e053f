/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Runs the program that is recorded, and handles signals. Signals are delivered only in two places:
 * while the session starts, after which the program is not run, and while the program is waited
 * for. So none is lost between a check and a wait.
 */

#include "record/record.h"

#include "exit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NOT_FOUND = 127, /* as in shells */
    NOT_EXECUTABLE = 126,
    BY_SIGNAL = 128,
};

enum {
    FIRST_LOOK_NS = 5000000, /* after the program's start; the delay doubles each time */
    LAST_LOOK_NS = 400000000,
};

static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
enum {
    SIGNALS = sizeof numbers / sizeof *numbers
};

static struct sigaction before[SIGNALS]; /* restored in the program */
static sigset_t mask_before;

static volatile sig_atomic_t stopped; /* the signal that requests the end; 0: none */
static volatile sig_atomic_t to_us;   /* last signal that the program may lack; 0: none */

/*
 * A signal from a terminal reaches the program, too. One that a process sent may be for us alone.
 */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number != SIGCHLD) {
        stopped = number;
        to_us = info->si_code <= 0 ? number : to_us;
    }
}

/*
 * Ignored signals stay ignored, as nohup and shells expect. SIGCHLD is the exception, since the
 * child's end must be noticed.
 */
void etwas_record_catch_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    (void)sigemptyset(&action.sa_mask);
    for (int index = 0; index < SIGNALS; index++) {
        (void)sigaction(numbers[index], NULL, &before[index]);
        if (before[index].sa_handler != SIG_IGN || numbers[index] == SIGCHLD) {
            (void)sigaction(numbers[index], &action, NULL);
        }
    }
}

bool etwas_record_is_stopped(void)
{
    return stopped != 0;
}

int etwas_record_cannot_run(const char *program, int error)
{
    fprintf(stderr, "etwas record: %s: cannot run it: %s\n", program, strerror(error));
    return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

static void block_signals(void)
{
    sigset_t blocked;

    (void)sigemptyset(&blocked);
    for (int index = 0; index < SIGNALS; index++) {
        (void)sigaddset(&blocked, numbers[index]);
    }
    (void)sigprocmask(SIG_BLOCK, &blocked, &mask_before);
}

/* Runs the program in the child. A signal since the fork is delivered when the mask is restored. */
static void become(char **program)
{
    for (int index = 0; index < SIGNALS; index++) {
        (void)sigaction(numbers[index], &before[index], NULL);
    }
    (void)sigprocmask(SIG_SETMASK, &mask_before, NULL);
    (void)execvp(program[0], program);
    _exit(etwas_record_cannot_run(program[0], errno));
}

static int await(pid_t child, const struct etwas_record_request *request)
{
    struct timespec look = {.tv_nsec = FIRST_LOOK_NS};
    pid_t ended;
    int status;

    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (ppoll(NULL, 0, &look, &mask_before) == 0) {
            etwas_record_look_near(request);
            /* Most programs register all their providers soon after their start. */
            look = look.tv_sec == 0 && look.tv_nsec < LAST_LOOK_NS
                       ? (struct timespec){.tv_nsec = 2 * look.tv_nsec}
                       : (struct timespec){.tv_sec = 1};
        }
        if (to_us != 0) {
            (void)kill(child, to_us);
            to_us = 0;
        }
    }
    if (ended < 0) {
        return ETWAS_EXIT_FAILED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}

int etwas_record_child(const struct etwas_record_request *request)
{
    char **program = request->program;
    pid_t child;

    block_signals();
    if (stopped != 0) {
        return BY_SIGNAL + stopped;
    }
    child = fork();
    if (child < 0) {
        fprintf(stderr, "etwas record: %s: cannot run it: %s\n", program[0], strerror(errno));
        return ETWAS_EXIT_FAILED;
    }
    if (child == 0) {
        become(program);
    }
    return await(child, request);
}
