/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Processes that take part: they are told, they answer, and they say which providers they have. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry/fixture.h"
#include "registry/process.h"
#include "registry/registry.h"
#include "registry/stale.h"
#include "registry/tell.h"

enum {
    GUESTS = 6,
    WAIT_MS = 60000,
};

static struct etwas_tell look_at(uint32_t number)
{
    return (struct etwas_tell){.op = ETWAS_TELL_LOOK, .number = number, .session = guid_of(number)};
}

/* The next thing that is told; fails the test after a minute. */
static struct etwas_tell hear_next(const struct etwas_registry_process *process)
{
    struct pollfd what = {.fd = process->socket, .events = POLLIN};
    struct etwas_tell tell;

    do {
        assert_int_equal(poll(&what, 1, WAIT_MS), 1);
    } while (etwas_registry_hear(process, &tell) != ERROR_SUCCESS);
    return tell;
}

/* ---- being told ------------------------------------------------------------------------------ */

/* Answers each LOOK, until it is told to end by one that has no number. */
static int guest(struct child *self, void *context)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    uint32_t code = etwas_registry_join(&process);
    struct etwas_tell tell;

    (void)context;
    say(self, (char)code);
    do {
        tell = hear_next(&process);
        if (tell.op == ETWAS_TELL_LOOK && tell.sender[0] != 0) {
            struct etwas_tell seen = tell;

            seen.op = ETWAS_TELL_SEEN;
            seen.sender[0] = 0;
            code = etwas_registry_tell(tell.sender, &seen);
        }
    } while (tell.number != 0);
    etwas_registry_leave(&process);
    return code == ERROR_SUCCESS ? 0 : 1;
}

static void all_living_processes_are_told_and_can_answer(void **state)
{
    struct etwas_registry_process own = ETWAS_REGISTRY_NO_PROCESS;
    struct child children[GUESTS];
    struct etwas_tell tell = look_at(5);
    uint32_t told;

    (void)state;
    for (uint32_t index = 0; index < GUESTS; index++) {
        children[index] = child_start(guest, NULL);
        assert_int_equal(hear(&children[index]), ERROR_SUCCESS);
    }
    child_kill(&children[0]);
    assert_int_equal(etwas_registry_join(&own), ERROR_SUCCESS);
    (void)strcpy(tell.sender, own.name);
    assert_int_equal(etwas_registry_tell_all(&tell, &told), ERROR_SUCCESS);
    assert_int_equal(told, GUESTS); /* all but the dead one, and we */
    assert_int_equal(files_like("p."), 2 * GUESTS + 1);
    assert_int_equal(hear_next(&own).op, ETWAS_TELL_LOOK);
    for (uint32_t index = 1; index < GUESTS; index++) {
        struct etwas_tell seen = hear_next(&own);

        assert_int_equal(seen.op, ETWAS_TELL_SEEN);
        assert_int_equal(seen.number, 5);
        assert_memory_equal(&seen.session, &tell.session, sizeof seen.session);
        assert_true(seen.process_id != (uint32_t)getpid() && seen.process_id != 0);
    }
    tell = look_at(0);
    assert_int_equal(etwas_registry_tell_all(&tell, NULL), ERROR_SUCCESS);
    for (uint32_t index = 1; index < GUESTS; index++) {
        assert_int_equal(child_end(&children[index]), 0);
    }
    assert_int_equal(etwas_registry_clear_stale(), 1); /* the list of the dead one */
    etwas_registry_leave(&own);
    assert_int_equal(files_like(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(all_living_processes_are_told_and_can_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
