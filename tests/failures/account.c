/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "failures/account.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

/*
 * Adds what the last reading back found; fails when an event was in a file before. The head of a
 * torn event may be another's.
 */
static void add_seen(etwas_trace_handle session, uint8_t *counts, bool torn)
{
    uint64_t at = 0;

    for (const struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        for (uint64_t number = 0; writer->options.session == session && number < writer->attempted;
             number++) {
            counts[at] = (uint8_t)(counts[at] + writer->events[number].seen);
            assert_true(counts[at] <= 1 || torn);
            at++;
        }
    }
}

static void expect_in_order(const char *path, const struct readback *result, int flags)
{
    bool torn = (flags & ACCOUNT_TORN) != 0 && result->wrong == 1;

    if (result->wrong != 0 && !torn) {
        fail_msg("%s: %u wrong, first %s", path, (unsigned)result->wrong, result->first_wrong);
    }
    assert_int_equal(result->unexpected, 0);
    if ((flags & (ACCOUNT_TORN | ACCOUNT_DAMAGED)) == 0) {
        assert_int_equal(result->damages, 0);
    }
}

uint32_t expect_accounted_files(const struct account *account, const etwas_session_counts *counts)
{
    uint64_t events = 0;
    uint64_t events_lost = 0;
    uint64_t buffers_lost = 0;
    uint64_t earlier = 0;
    uint32_t files = 0;
    uint8_t *seen;

    expect_exact_account(account->session, counts);
    if (account->earlier != NULL) {
        account->earlier->options.session = account->session;
        earlier = account->earlier->recorded;
    }
    seen = calloc(writers_totals(account->session).attempted + 1, 1);
    assert_non_null(seen);
    for (uint32_t index = 0; index < account->path_count; index++) {
        const char *path = account->paths[index];
        struct readback result;

        if (access(path, F_OK) != 0) {
            continue;
        }
        files++;
        if ((account->flags & ACCOUNT_WALKED) != 0) {
            walk_back(account->session, path, true, &result);
            expect_in_order(path, &result, account->flags);
        }
        read_back(account->session, path, &result);
        expect_in_order(path, &result, account->flags);
        add_seen(account->session, seen, (account->flags & ACCOUNT_TORN) != 0);
        events += result.events;
        events_lost += result.events_lost;
        buffers_lost += result.buffers_lost;
    }
    free(seen);
    if ((account->flags & ACCOUNT_PART) != 0) {
        assert_true(events <= earlier + counts->recorded);
    } else if ((account->flags & ACCOUNT_TORN) != 0) {
        assert_in_range(events, earlier + counts->recorded,
                        earlier + counts->recorded + counts->lost);
    } else {
        assert_int_equal(events, earlier + counts->recorded);
    }
    if ((account->flags & ACCOUNT_LOSSES) != 0) {
        assert_int_equal(events_lost, counts->lost);
        assert_int_equal(buffers_lost, counts->buffers_lost);
    }
    return files;
}

uint32_t open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    assert_int_equal(closedir(folder), 0);
    return count;
}
