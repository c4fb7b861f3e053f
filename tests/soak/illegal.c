/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Illegal sessions: each is a legal one with one change whose error follows from the rules. It gets
 * exactly that error, and leaves nothing behind.
 */
#include <ck_pr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "changes.h"
#include "soak.h"

enum {
    MOST_CHANGES = 64
};

static uint32_t tried[MOST_CHANGES]; /* of each change */

void soak_print_untried(void)
{
    for (uint32_t index = 0; index < soak_change_count; index++) {
        if (ck_pr_load_32(&tried[index]) == 0) {
            (void)printf("never tried: %s\n", soak_changes[index].what);
        }
    }
}

static uint32_t start_long(struct soak_attempt *attempt, etwas_trace_handle *session)
{
    etwas_wchar wide[SOAK_TOO_LONG + 1];

    if (attempt->request.wide) {
        soak_widen(attempt->long_name, wide);
        return StartTraceW(session, wide, &attempt->block.properties);
    }
    return StartTraceA(session, attempt->long_name, &attempt->block.properties);
}

static uint32_t start(struct soak_attempt *attempt, bool with_block, etwas_trace_handle *session)
{
    if (attempt->name_is_long) {
        return start_long(attempt, session);
    }
    return with_block ? soak_start_block(&attempt->request, &attempt->block, session)
                      : soak_start(&attempt->request, session);
}

static void check_name_is_free(const struct soak_attempt *attempt, const char *where)
{
    struct soak_block block;
    uint32_t code;

    if (attempt->name_is_somebodys || attempt->request.name[0] == 0) {
        return;
    }
    soak_block_begin(&block, false, "");
    code = soak_control(0, attempt->request.name, false, &block, EVENT_TRACE_CONTROL_QUERY);
    if (code != ERROR_WMI_INSTANCE_NOT_FOUND) {
        soak_fault(where, "QUERY of a session that was refused: code %u", code);
    }
}

static void try_one(uint64_t seed, uint32_t round, struct soak_random *random, const char *folder,
                    bool alone)
{
    struct soak_attempt attempt = {.random = random, .folder = folder};
    const struct soak_change *change = &soak_changes[soak_upto(random, soak_change_count - 1)];
    struct soak_belongings before = {0};
    uint32_t files = soak_count_files(folder);
    etwas_trace_handle session = 77;
    char text[900];
    char where[1200];
    char name[SOAK_NAME_BYTES];
    uint32_t expected;
    uint32_t code;

    (void)snprintf(name, sizeof name, "illegal %u %llx", round, (unsigned long long)seed & 0xFFFF);
    soak_request_make(&attempt.request, random, folder, name);
    if (change->of_block && !attempt.request.by_block) {
        return;
    }
    soak_block_of(&attempt.request, &attempt.block);
    expected = change->make(&attempt);
    if (expected == ERROR_SUCCESS || !soak_private_take(attempt.request.mode)) {
        return;
    }
    (void)snprintf(where, sizeof where, "seed %llu, illegal round %u, %s: %s",
                   (unsigned long long)seed, round, change->what,
                   soak_describe(&attempt.request, text, sizeof text));
    if (alone) {
        before = soak_count_belongings();
    }
    code = start(&attempt, change->of_block, &session);
    ck_pr_inc_32(&tried[change - soak_changes]);
    if (code != expected || session != 0) {
        soak_fault(where, "code %u where %u is right, handle %llx", code, expected,
                   (unsigned long long)session);
    } else {
        check_name_is_free(&attempt, where);
        if (soak_count_files(folder) != files) {
            soak_fault(where, "a file is left");
        }
        if (alone) {
            soak_expect_nothing_gained(where, &before);
        }
    }
    soak_private_give(attempt.request.mode);
}

/* ---- the sessions whose names, GUID and file others ask for ---------------------------------- */

static bool start_keepers(const char *folder, etwas_trace_handle keepers[2])
{
    struct soak_request recorder = {
        .mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_kb = 4,
        .by_block = true,
        .has_guid = true,
        .guid = {0x50a40009, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}},
        .name = "soak keeper",
    };
    struct soak_request logger = {
        .buffer_kb = 4, .clock = 2, .name = "soak keeper file", .has_file = true};

    (void)snprintf(logger.file, sizeof logger.file, "%.400s/keeper.etl", folder);
    return soak_start(&recorder, &keepers[0]) == ERROR_SUCCESS &&
           soak_start(&logger, &keepers[1]) == ERROR_SUCCESS;
}

static bool make_surroundings(const char *folder)
{
    char path[SOAK_PATH_BYTES];
    FILE *noise;

    (void)snprintf(path, sizeof path, "%.400s/folder", folder);
    if (mkdir(folder, 0777) != 0 || mkdir(path, 0777) != 0) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%.400s/noise", folder);
    noise = fopen(path, "we");
    if (noise == NULL) {
        return false;
    }
    for (uint32_t number = 0; number < 5000; number++) {
        (void)fprintf(noise, "%u", number);
    }
    return fclose(noise) == 0;
}

void soak_illegal(uint64_t seed, uint32_t round, uint32_t times, const char *folder, bool alone)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct soak_random random = soak_random_of(seed, SOAK_CONTROLLERS, round);
    etwas_trace_handle keepers[2] = {0, 0};
    char own_folder[SOAK_PATH_BYTES];

    (void)pthread_mutex_lock(&one_at_a_time);
    (void)snprintf(own_folder, sizeof own_folder, "%.300s/i%u", folder, round);
    if (!make_surroundings(own_folder) || !start_keepers(own_folder, keepers)) {
        soak_fault("illegal sessions", "cannot make what they meet");
    }
    while (times-- != 0 && !soak_has_faults()) {
        try_one(seed, round, &random, own_folder, alone);
    }
    (void)etwas_stop(keepers[0], NULL);
    (void)etwas_stop(keepers[1], NULL);
    if (!soak_has_faults()) {
        soak_remove_folder(own_folder);
    }
    (void)pthread_mutex_unlock(&one_at_a_time);
}
