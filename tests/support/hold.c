/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/hold.h"

#include <ck_pr.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "support/folder.h"

static _Thread_local int wanted = ETWAS_POINT_COUNT; /* this thread stops here */
static sem_t is_held;
static sem_t may_go;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t held_now;
static uint64_t passed[ETWAS_POINT_COUNT];

static void prepare(void)
{
    (void)sem_init(&is_held, 0, 0);
    (void)sem_init(&may_go, 0, 0);
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

static void on_point(enum etwas_testpoint point)
{
    ck_pr_inc_64(&passed[point]);
    if (wanted == (int)point) {
        wanted = ETWAS_POINT_COUNT;
        ck_pr_inc_32(&held_now);
        (void)sem_post(&is_held);
        wait_for(&may_go);
    }
}

void hold_count_from_zero(void)
{
    (void)pthread_once(&once, prepare);
    for (int point = 0; point < ETWAS_POINT_COUNT; point++) {
        ck_pr_store_64(&passed[point], 0);
    }
    folder_let_go = hold_release_all;
    etwas_testpoint_set(on_point);
}

void hold_me(enum etwas_testpoint point)
{
    hold_count_from_zero();
    wanted = (int)point;
}

void hold_wait(void)
{
    (void)pthread_once(&once, prepare);
    wait_for(&is_held);
}

void hold_release(void)
{
    ck_pr_dec_32(&held_now);
    (void)sem_post(&may_go);
}

uint64_t hold_passed(enum etwas_testpoint point)
{
    return ck_pr_load_64(&passed[point]);
}

void hold_release_all(void)
{
    etwas_testpoint_set(NULL);
    /* Only a test that failed leaves a thread behind. */
    if (ck_pr_load_32(&held_now) != 0) {
        hold_release();
    }
}
