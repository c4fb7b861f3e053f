/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The soak of several programs: starts hosts, providers and controllers, stops, continues and kills
 * them at random, and checks every session's account and what is left when all are gone.
 */
#include "programs.h"

#include <ck_pr.h>
#include <dirent.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEFAULT_SECONDS = 3,
    NANOSECONDS = 1000000000,
    MOST_SECONDS_MORE = 60,
    LONGEST_END_S = 100, /* then a program hangs */
};

static const char help[] =
    "usage: etwas_soak_programs [--seconds N] [--seed S] [--folder DIR] [--full]\n"
    "\n"
    "Ten programs at a time, hosts, providers and controllers, start, "
    "enable, disable, update, flush,\n"
    "query, fork and stop for N seconds (3), and are killed and stopped at "
    "random meanwhile. The account\n"
    "of every session whose host lived must be exact, but for one event for "
    "each provider that was killed\n"
    "while it logged to it; when all have gone nothing is left in the "
    "runtime folder, and no program that\n"
    "lived has gained a descriptor. Log files and runtime folder are made in "
    "DIR (/tmp). --full fills its file\n"
    "system again and again: then what is written may fail, and attempted "
    "must be exact.\n";

struct soak_board *soak_board;
char soak_folder[SOAK_FOLDER_BYTES];
bool soak_is_full;

static char runtime_folder[2 * SOAK_FOLDER_BYTES];
static char filler[2 * SOAK_FOLDER_BYTES];

static struct program {
    int process; /* 0: none */
    bool is_stopped;
} programs[SOAK_PROGRAMS];

/* ---- faults ---------------------------------------------------------------------------------- */

void soak_fault(const char *where, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)fprintf(stderr, "%s: ", where);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    ck_pr_inc_32(&soak_board->faults);
    ck_pr_store_32(&soak_board->end, 1);
}

bool soak_has_faults(void)
{
    return ck_pr_load_32(&soak_board->faults) != 0;
}

void soak_pause_us(uint32_t microseconds)
{
    (void)usleep(microseconds);
}

static uint64_t now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void start(uint32_t index, struct soak_random *random)
{
    static int (*const roles[])(uint32_t program, struct soak_random * random) = {
        soak_host, soak_host, soak_provider, soak_provider, soak_provider, soak_controller};
    /* The first is a host, the second a provider: without them there is nothing to be checked. */
    uint32_t role = index < 2 ? 2 * index : soak_upto(random, sizeof roles / sizeof *roles - 1);
    struct soak_random own = {soak_next(random)};
    int process = fork();

    if (process == 0) {
        exit(roles[role](index, &own));
    }
    if (process < 0) {
        soak_fault("fork", "the system refuses a process");
        return;
    }
    programs[index] = (struct program){.process = process};
}

/* What it was in the middle of may be counted, and noted nowhere. */
static void note_killed(uint32_t index)
{
    uint32_t number = ck_pr_load_32(&soak_board->calling[index]);

    if (number != 0) {
        soak_board->accounts[number].killed++;
        ck_pr_store_32(&soak_board->calling[index], 0);
    }
}

/* Else the files of killed hosts fill the file system for good. */
static void remove_file_of(uint32_t index)
{
    uint32_t number = ck_pr_load_32(&soak_board->hosting[index]);
    char path[2 * SOAK_FOLDER_BYTES];

    if (number != 0) {
        (void)snprintf(path, sizeof path, "%s/%u.etl", soak_folder, number);
        (void)unlink(path);
        ck_pr_store_32(&soak_board->hosting[index], 0);
    }
}

static void kill_one(uint32_t index)
{
    int status;

    (void)kill(programs[index].process, SIGKILL);
    (void)waitpid(programs[index].process, &status, 0);
    note_killed(index);
    remove_file_of(index);
    programs[index] = (struct program){0};
}

static void disturb(struct soak_random *random)
{
    uint32_t index = soak_upto(random, SOAK_PROGRAMS - 1);

    if (programs[index].process == 0) {
        start(index, random);
        return;
    }
    if (programs[index].is_stopped) {
        (void)kill(programs[index].process, SIGCONT);
        programs[index].is_stopped = false;
    } else if (soak_once_in(random, 20)) {
        (void)kill(programs[index].process, SIGSTOP);
        programs[index].is_stopped = true;
    } else if (soak_once_in(random, 20)) {
        kill_one(index);
    }
}

/* Every program ends by itself now, and children of those that were killed do, too. */
static void end_all(void)
{
    uint64_t end_s = now_s() + LONGEST_END_S;
    int status = 0;
    int process;

    ck_pr_store_32(&soak_board->end, 1);
    for (uint32_t index = 0; index < SOAK_PROGRAMS; index++) {
        if (programs[index].process != 0) {
            (void)kill(programs[index].process, SIGCONT);
        }
    }
    while ((process = waitpid(-1, &status, WNOHANG)) >= 0) {
        if (process > 0 && status != 0) {
            soak_fault("end", "a program ended with status 0x%x", status);
        }
        if (process == 0 && now_s() > end_s) {
            soak_fault("end", "a program hangs");
            return;
        }
        soak_pause_us(process == 0 ? 1000 : 0);
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void check_count(uint32_t number, const char *what, uint64_t by_session, uint64_t noted)
{
    uint64_t spare = soak_board->accounts[number].killed;

    if (by_session < noted || by_session - noted > spare) {
        soak_fault("account",
                   "session %u %s %llu events, its providers %llu; killed in a call: %llu", number,
                   what, (unsigned long long)by_session, (unsigned long long)noted,
                   (unsigned long long)spare);
    }
}

static void check_accounts(void)
{
    uint32_t checked = 0;
    uint64_t events = 0;

    for (uint32_t number = 1; number <= soak_board->sessions && number < SOAK_SESSIONS; number++) {
        const struct soak_account *account = &soak_board->accounts[number];

        if (account->has_ended != 0) {
            if (soak_is_full) {
                check_count(number, "counted", account->recorded_by_count + account->lost_by_count,
                            (uint64_t)account->recorded + account->lost);
            } else {
                check_count(number, "recorded", account->recorded_by_count, account->recorded);
                check_count(number, "lost", account->lost_by_count, account->lost);
            }
            events += account->recorded_by_count + account->lost_by_count;
            checked++;
        }
    }
    (void)printf("%u sessions, %u of them to their end, with %llu events\n", soak_board->sessions,
                 checked, (unsigned long long)events);
    (void)fflush(stdout);
    if (checked == 0 || events == 0) {
        soak_fault("account", "nothing was there to be checked");
    }
}

/* A pool that a crash-safe session left when it was killed waits for recovery. */
static bool is_pool(const char *name)
{
    size_t length = strlen(name);

    return length > 5 && strcmp(name + length - 5, ".pool") == 0;
}

/* One more program clears away what those that were killed have left, and leaves nothing itself. */
static void check_runtime_folder(void)
{
    int process = fork();
    const struct dirent *found;
    int status = 0;
    DIR *folder;

    if (process == 0) {
        exit(etwas_share() == ERROR_SUCCESS ? 0 : 1);
    }
    if (waitpid(process, &status, 0) != process || status != 0) {
        soak_fault("folder", "nobody can take part any more: 0x%x", status);
    }
    folder = opendir(runtime_folder);
    while (folder != NULL && (found = readdir(folder)) != NULL) {
        if (is_pool(found->d_name)) {
            (void)unlinkat(dirfd(folder), found->d_name, 0);
        } else if (found->d_name[0] != '.') {
            soak_fault("folder", "%s is left", found->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

/* Files of sessions whose hosts were killed. */
static void remove_folders(void)
{
    DIR *folder = opendir(soak_folder);
    const struct dirent *found;

    (void)rmdir(runtime_folder);
    while (folder != NULL && (found = readdir(folder)) != NULL) {
        (void)unlinkat(dirfd(folder), found->d_name, 0);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(soak_folder);
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Takes all space of the file system. */
static void take_space(void)
{
    static const char zeroes[4096];
    int file = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    while (file >= 0 && write(file, zeroes, sizeof zeroes) > 0) {
    }
    if (file >= 0) {
        (void)close(file);
    }
}

static bool prepare(const char *folder)
{
    int bytes = snprintf(soak_folder, sizeof soak_folder, "%s/etwas-soak-XXXXXX", folder);

    soak_board =
        mmap(NULL, sizeof *soak_board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bytes < 0 || (size_t)bytes >= sizeof soak_folder || soak_board == MAP_FAILED ||
        mkdtemp(soak_folder) == NULL) {
        return false;
    }
    (void)snprintf(filler, sizeof filler, "%s/filler", soak_folder);
    (void)snprintf(runtime_folder, sizeof runtime_folder, "%s/run", soak_folder);
    /* The children of a program that is killed are ours. */
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && setenv("ETWAS_SHARED", "1", 1) == 0 &&
           setenv("ETWAS_RUNTIME_DIR", runtime_folder, 1) == 0;
}

/*
 * Has a session ended whose account is of events? On a busy machine that may take longer than was
 * asked for.
 */
static bool is_there_to_be_checked(void)
{
    for (uint32_t number = 1; number <= soak_board->sessions && number < SOAK_SESSIONS; number++) {
        const struct soak_account *account = &soak_board->accounts[number];

        if (ck_pr_load_32(&account->has_ended) != 0 &&
            account->recorded_by_count + account->lost_by_count != 0) {
            return true;
        }
    }
    return false;
}

static int soak(uint64_t seed, uint64_t seconds)
{
    struct soak_random random = soak_random_of(seed, 0, 0);
    uint64_t end_s = now_s() + seconds;

    (void)printf("--seed %llu\n", (unsigned long long)seed);
    (void)fflush(stdout); /* or children say it again */
    while (
        (now_s() < end_s || (now_s() < end_s + MOST_SECONDS_MORE && !is_there_to_be_checked())) &&
        !soak_has_faults()) {
        disturb(&random);
        if (soak_is_full && soak_once_in(&random, 20) && unlink(filler) != 0) {
            take_space();
        }
        soak_pause_us(soak_upto(&random, 20000));
    }
    (void)unlink(filler);
    end_all();
    if (!soak_has_faults()) {
        check_accounts();
        check_runtime_folder();
    }
    if (soak_has_faults()) {
        (void)printf("what there is stays in %s\n", soak_folder);
        return 1;
    }
    remove_folders();
    return 0;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'S'},
        {"folder", required_argument, NULL, 'f'},  {"full", no_argument, NULL, 'F'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    uint64_t seconds = DEFAULT_SECONDS;
    uint64_t seed = (uint64_t)time(NULL) * NANOSECONDS + (uint64_t)getpid();
    const char *folder = "/tmp";
    int option;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 's':
            seconds = strtoull(optarg, NULL, 0);
            break;
        case 'S':
            seed = strtoull(optarg, NULL, 0);
            break;
        case 'f':
            folder = optarg;
            break;
        case 'F':
            soak_is_full = true;
            break;
        default:
            (void)fputs(help, option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 2;
        }
    }
    if (!prepare(folder)) {
        (void)fputs("there is no memory, or no folder\n", stderr);
        return 1;
    }
    return soak(seed, seconds);
}
