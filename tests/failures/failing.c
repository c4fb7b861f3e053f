/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "failures/failing.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/start.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* All of this under the mutex. */
static struct failing plan;
static uint32_t asked;
static uint32_t failed;
static uint32_t chances; /* taken so far */
static enum etwas_log_file_call first;
static bool hangs; /* a call shall */
static bool hung;  /* it does */

static uint32_t random_number(void)
{
    uint32_t random = (chances++ + plan.seed) * 2654435761u;

    random = (random ^ random >> 15) * 2246822519u;
    return random ^ random >> 13;
}

/* The outcome of a call that the plan is about. */
static long fail_one(enum etwas_log_file_call call, size_t bytes)
{
    uint32_t random = random_number();

    if (plan.one_in > 1 && random % plan.one_in != 0) {
        return (long)bytes;
    }
    random /= plan.one_in + 1;
    if (plan.shortens && random % 3 == 0) {
        /* Short at any byte, or nothing at all. */
        return random % 2 == 0 || bytes == 0 ? -EINTR : (long)(bytes / (1 + random % 17)) + 1;
    }
    if (failed++ == 0) {
        first = call;
        if (plan.tears && bytes > 1) {
            return (long)(bytes / 2);
        }
    }
    return -plan.error;
}

static void hang_one(void)
{
    hung = true;
    while (hangs) {
        (void)pthread_cond_wait(&changed, &mutex);
    }
    hung = false;
}

static long decide(enum etwas_log_file_call call, size_t bytes)
{
    long outcome = (long)bytes;

    (void)pthread_mutex_lock(&mutex);
    if ((plan.calls & 1u << call) != 0) {
        bool due = asked++ >= plan.after;

        if (hangs && due && !hung) {
            hang_one();
        } else if (plan.error != 0 && due && (plan.most == 0 || failed < plan.most)) {
            outcome = fail_one(call, bytes);
        }
    }
    (void)pthread_mutex_unlock(&mutex);
    return outcome;
}

static void begin(const struct failing *wanted, bool hang)
{
    (void)pthread_mutex_lock(&mutex);
    plan = *wanted;
    asked = 0;
    failed = 0;
    chances = 0;
    hangs = hang;
    (void)pthread_mutex_unlock(&mutex);
    etwas_file_set_failure_hook(decide);
}

void fail_calls(const struct failing *wanted)
{
    begin(wanted, false);
}

void fail_no_more(void)
{
    etwas_file_set_failure_hook(NULL);
}

static uint32_t read_locked(const uint32_t *count)
{
    uint32_t value;

    (void)pthread_mutex_lock(&mutex);
    value = *count;
    (void)pthread_mutex_unlock(&mutex);
    return value;
}

uint32_t calls_asked(void)
{
    return read_locked(&asked);
}

uint32_t calls_failed(void)
{
    return read_locked(&failed);
}

enum etwas_log_file_call first_failed(void)
{
    return first;
}

void hang_call(enum etwas_log_file_call call, uint32_t after)
{
    begin(&(struct failing){.calls = 1u << call, .after = after}, true);
}

bool hangs_now(void)
{
    bool now;

    (void)pthread_mutex_lock(&mutex);
    now = hung;
    (void)pthread_mutex_unlock(&mutex);
    return now;
}

void hang_release(void)
{
    fail_no_more();
    (void)pthread_mutex_lock(&mutex);
    hangs = false;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

void fork_while_it_hangs(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(hangs_now());
}

int failing_teardown(void **state)
{
    hang_release();
    return folder_teardown(state);
}
