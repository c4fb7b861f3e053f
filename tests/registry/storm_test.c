/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Many processes take names and GUIDs, clear what is stale, are stopped, and die anywhere: nobody
 * has what another has, nothing living is removed, and in the end nothing is left.
 */
#include <ck_pr.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/fixture.h"
#include "registry/notification.h"
#include "registry/registry.h"
#include "registry/removal.h"
#include "registry/sessions.h"

enum {
    PROCESSES = 8,
    NAMES = 3,
    ENOUGH = 1500, /* sessions that were opened */
    DOOMED = 16384,
    WAIT_S = 60,
};

/* What all of them see. */
struct common {
    uint32_t of_name[NAMES]; /* which process has it just now, or had it when it was killed */
    uint32_t of_guid[NAMES];
    uint32_t doomed[DOOMED]; /* those that are killed wherever they are */
    uint32_t doomed_count;
    uint32_t opened;
    uint32_t busy;
    uint32_t refused;
    uint32_t killed;
    uint32_t is_over; /* all are killed: what goes wrong now says nothing */
    char wrong[256];
};

static struct common *common;

static void complain(const char *what)
{
    if (ck_pr_load_32(&common->is_over) == 0) {
        (void)strncpy(common->wrong, what, sizeof common->wrong - 1);
    }
}

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            complain(#condition);                                                                  \
        }                                                                                          \
    } while (0)

static const etwas_wchar *const names[NAMES] = {u"first", u"Second", u"tHIRD"};
static const etwas_wchar *const same_names[NAMES] = {u"FIRST", u"sECOND", u"Third"};

static void pause_a_little(uint32_t most_us)
{
    struct timespec time = {.tv_nsec = (long)(random() % most_us) * 1000};

    (void)nanosleep(&time, NULL);
}

/* Every process can find a living session, and connect to it. */
static void expect_is_there(uint32_t name, uint32_t guid)
{
    const etwas_guid own = guid_of(guid);
    uint64_t deadline_ns = etwas_monotonic_ns() + (uint64_t)WAIT_S * 1000000000;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    int connection;

    EXPECT(etwas_registry_find(same_names[name], &entry) == ERROR_SUCCESS);
    if (entry != NULL) {
        EXPECT(memcmp(&entry->session, &own, sizeof own) == 0);
        EXPECT(entry->process_id == (uint32_t)getpid());
        if (etwas_registry_connect(entry, deadline_ns, &connection, &peer) == ERROR_SUCCESS) {
            (void)close(connection);
        } else {
            complain("a living session's socket is gone");
        }
    }
    free(entry);
}

static void die(void)
{
    ck_pr_add_32(&common->killed, 1);
    (void)kill(getpid(), SIGKILL);
}

static bool is_doomed(uint32_t process)
{
    for (uint32_t index = 0; index < ck_pr_load_32(&common->doomed_count); index++) {
        if (common->doomed[index] == process) {
            return true;
        }
    }
    return false;
}

static void take(uint32_t *holder)
{
    uint32_t other = ck_pr_fas_32(holder, (uint32_t)getpid());

    EXPECT(other == 0 || is_doomed(other));
}

static void give(uint32_t *holder)
{
    EXPECT(ck_pr_fas_32(holder, 0) == (uint32_t)getpid());
}

static void host_one(void)
{
    uint32_t name = (uint32_t)random() % NAMES;
    uint32_t guid = (uint32_t)random() % NAMES;
    struct etwas_registry_host host;
    uint32_t code = open_session(&host, names[name], guid);

    if (code != ERROR_SUCCESS) {
        EXPECT(code == ERROR_ALREADY_EXISTS || code == ERROR_BUSY);
        ck_pr_add_32(code == ERROR_BUSY ? &common->busy : &common->refused, 1);
        return;
    }
    ck_pr_add_32(&common->opened, 1);
    take(&common->of_name[name]);
    take(&common->of_guid[guid]);
    for (uint32_t round = (uint32_t)random() % 4; round > 0; round--) {
        struct etwas_registry_entry *entry = entry_of(names[name], guid);

        pause_a_little(500);
        entry->number += round;
        entry->socket = host.socket;
        entry->process_id = (uint32_t)getpid();
        EXPECT(etwas_registry_host_publish(&host, entry) == ERROR_SUCCESS);
    }
    expect_is_there(name, guid);
    give(&common->of_name[name]);
    give(&common->of_guid[guid]);
    if (random() % 4 == 0) {
        die();
    }
    etwas_registry_host_close(&host);
}

/* Takes part for a moment: its list and its socket stay while it does. */
static void take_part(void)
{
    static const struct etwas_registry_guid_list none;
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_notification notification = {.op = ETWAS_NOTIFY_CHANGED};
    uint32_t code;

    EXPECT(etwas_registry_join(&process) == ERROR_SUCCESS);
    EXPECT(etwas_registry_notify_all(&notification, NULL) == ERROR_SUCCESS);
    EXPECT(etwas_registry_publish_guids(&process, &none) == ERROR_SUCCESS);
    pause_a_little(300);
    code = etwas_registry_notify(process.name, &notification, 0);
    EXPECT(code == ERROR_SUCCESS || code == ERROR_TIMEOUT); /* others have filled its queue */
    if (random() % 8 == 0) {
        die();
    }
    etwas_registry_leave(&process);
}

static int storm(struct child *self, void *context)
{
    (void)self;
    (void)context;
    srandom((unsigned)getpid());
    while (common->wrong[0] == 0) {
        switch (random() % 4) {
        case 0:
            (void)etwas_registry_clear_stale();
            break;
        case 1:
            take_part();
            break;
        default:
            host_one();
            break;
        }
    }
    return 1;
}

/*
 * One that has died is replaced by another; some are stopped for a while; some are killed wherever
 * they are.
 */
static void disturb(struct child children[PROCESSES])
{
    uint32_t index = (uint32_t)random() % PROCESSES;

    if (random() % 2 == 0) {
        (void)kill(children[index].process, SIGSTOP);
        pause_a_little(20000);
    }
    if (random() % 2 == 0) {
        assert_true(common->doomed_count < DOOMED);
        common->doomed[common->doomed_count] = (uint32_t)children[index].process;
        ck_pr_fence_store();
        ck_pr_add_32(&common->doomed_count, 1);
        ck_pr_add_32(&common->killed, 1);
        (void)kill(children[index].process, SIGKILL);
    }
    (void)kill(children[index].process, SIGCONT);
    pause_a_little(3000);
}

static void replace_the_dead(struct child children[PROCESSES])
{
    for (uint32_t index = 0; index < PROCESSES; index++) {
        int status;

        if (waitpid(children[index].process, &status, WNOHANG) == children[index].process) {
            assert_string_equal(common->wrong, "");
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            (void)close(children[index].from);
            (void)close(children[index].to);
            children[index] = child_start(storm, NULL);
        }
    }
}

static void nobody_has_what_another_has_and_nothing_is_left(void **state)
{
    struct child children[PROCESSES];

    (void)state;
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(common != MAP_FAILED);
    for (uint32_t index = 0; index < PROCESSES; index++) {
        children[index] = child_start(storm, NULL);
    }
    while (ck_pr_load_32(&common->opened) < ENOUGH && common->wrong[0] == 0) {
        disturb(children);
        replace_the_dead(children);
    }
    ck_pr_store_32(&common->is_over, 1);
    for (uint32_t index = 0; index < PROCESSES; index++) {
        (void)kill(children[index].process, SIGKILL);
        (void)child_end(&children[index]);
    }
    print_message("%u opened, %u refused, %u busy, %u killed\n", common->opened, common->refused,
                  common->busy, common->killed);
    assert_string_equal(common->wrong, "");
    assert_true(common->killed != 0);
    (void)etwas_registry_clear_stale();
    (void)etwas_registry_clear_stale(); /* sockets that were met before what they belonged to */
    assert_int_equal(files_like(""), 0);
    assert_int_equal(munmap(common, sizeof *common), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(nobody_has_what_another_has_and_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
