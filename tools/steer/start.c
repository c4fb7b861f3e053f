/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas start`: starts a session in a process of its own, etwas-host, which is in the
 * folder of this program.
 */

#include "exit.h"
#include "host/host.h"
#include "steer/session.h"
#include "steer/start_request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char command[] = "etwas start";

enum {
    HOST_ARGUMENTS = 2, /* in addition to ours: --background, and the final NULL */
    SENTENCE_BYTES = 16 * ETWAS_STEER_NAME_BYTES
};

/* ---- the host process ------------------------------------------------------------------------ */

static bool find_host(char path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

    if (length < 0) {
        return false;
    }
    own[length] = '\0';
    return (size_t)snprintf(path, PATH_MAX, "%s/etwas-host", dirname(own)) < PATH_MAX;
}

/*
 * Makes exec close all descriptors except the standard ones, including those that this process
 * inherited.
 */
static bool inherit_none(void)
{
    const struct dirent *entry;
    DIR *files = opendir("/proc/self/fd");

    while (files != NULL && (entry = readdir(files)) != NULL) {
        int descriptor = atoi(entry->d_name);

        if (descriptor > STDERR_FILENO) {
            (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        }
    }
    return files != NULL && closedir(files) == 0;
}

/*
 * Runs the host with the environment of a service: no terminal, no other descriptors, default
 * signals.
 */
static void become(const char *path, char **arguments, int report)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int error = errno;
    sigset_t none;

    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, SIG_DFL);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)unsetenv("NOTIFY_SOCKET"); /* it names our service manager, not the host's */
    if (null >= 0) {
        if (dup2(null, STDIN_FILENO) >= 0 && dup2(report, STDOUT_FILENO) >= 0 &&
            dup2(report, STDERR_FILENO) >= 0 && inherit_none()) {
            (void)execv(path, arguments);
        }
        error = errno;
    }
    (void)dprintf(report, "%s: '%s': it cannot be run: %s\n", command, path, strerror(error));
    _exit(ETWAS_EXIT_FAILED);
}

/*
 * Starts the host with init as its parent, in a session without a terminal that it does not lead.
 * Returns false if it cannot be started.
 */
static bool launch(const char *path, char **arguments, int report)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        pid_t host = setsid() >= 0 ? fork() : -1;

        if (host == 0) {
            become(path, arguments, report);
        }
        _exit(host > 0 ? 0 : 1);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

/*
 * Reads the host's messages until it closes the pipe. Returns the sentence after them that says
 * where it runs; NULL if it does not run.
 */
static const char *listen_to(int report, char said[SENTENCE_BYTES])
{
    size_t used = 0;
    size_t messages;
    ssize_t bytes = 1;

    while (bytes > 0 || (bytes < 0 && errno == EINTR)) {
        bytes = read(report, said + used, SENTENCE_BYTES - 1 - used);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    said[used] = ETWAS_HOST_RUNS;
    messages = strlen(said);
    return messages < used ? said + messages + 1 : NULL;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int start(char **arguments)
{
    static char said[SENTENCE_BYTES];
    const char *sentence;
    char path[PATH_MAX];
    int ends[2];
    bool is_launched;

    if (!find_host(path)) {
        fprintf(stderr, "%s: /proc/self/exe: where etwas-host is cannot be told: %s\n", command,
                strerror(errno));
        return ETWAS_EXIT_FAILED;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fprintf(stderr, "%s: %s\n", command, strerror(errno));
        return ETWAS_EXIT_FAILED;
    }
    is_launched = launch(path, arguments, ends[1]);
    (void)close(ends[1]);
    if (!is_launched) {
        fprintf(stderr, "%s: etwas-host: no process can be started\n", command);
        (void)close(ends[0]);
        return ETWAS_EXIT_FAILED;
    }
    sentence = listen_to(ends[0], said);
    (void)close(ends[0]);
    if (sentence == NULL && said[0] == '\0') {
        fputs("etwas start: etwas-host has ended without a word\n", stderr);
    }
    fputs(said, stderr);
    if (sentence == NULL) {
        return ETWAS_EXIT_FAILED;
    }
    return fputs(sentence, stdout) >= 0 && fflush(stdout) == 0 ? ETWAS_EXIT_DONE
                                                               : ETWAS_EXIT_OUTPUT;
}

static int run_start(int argc, char **argv)
{
    static char host[] = "etwas-host";
    static char background[] = "--background";
    static struct etwas_steer_start_request request;
    char **arguments;
    int result;

    if (!etwas_steer_start_request_read(&request, argc, argv, &result)) {
        return result;
    }
    if (!etwas_steer_start_request_may_write(&request, command)) {
        return ETWAS_EXIT_OUTPUT;
    }
    /* The host parses the same arguments, so it accepts what was accepted here. */
    arguments = calloc((size_t)argc + HOST_ARGUMENTS, sizeof *arguments);
    if (arguments == NULL) {
        fprintf(stderr, "%s: %s\n", command, strerror(errno));
        return ETWAS_EXIT_FAILED;
    }
    arguments[0] = host;
    arguments[1] = background;
    memcpy(arguments + 2, argv + 1, (size_t)(argc - 1) * sizeof *argv);
    result = start(arguments);
    free(arguments);
    return result;
}

const struct etwas_command etwas_start_command = {
    .name = "start",
    .group = "Control sessions",
    .summary = "start a session in the background",
    .usages = (const char *const[]){"[OPTION...] SESSION", "--autologger NAME", NULL},
    .description =
        "Starts a session in a process of its own. Programs of the same user log into it.",
    .details =
        (const char *const[]){
            "The process is etwas-host. A program logs into the session once that enables one of "
            "its "
            "providers.",
            "The session runs until etwas stop stops it, until its file is full, or until SIGTERM "
            "ends its process. Programs with ETWAS_SHARED=0 in their environment take no part.",
            "--autologger names a file NAME.autologger in ~/.config/etwas or /etc/etwas, or any "
            "such file by its path. The file says all the rest: see etwas autologger.",
            "A log file that is there stays, and nothing is started, unless --append or --force is "
            "given. The PATH of a flight recorder is for its snapshots that name no other.",
            "--enable takes as many providers as it is given times, 64 at most, in whichever "
            "process they are. KEYWORDS is a number, and 0 is all of them, which is the default. "
            "LEVEL is a number up to 255, which is the default, or critical, error, warning, "
            "information or verbose.",
            ETWAS_STEER_PATTERN_TEXT,
            "--pid, --process and --event are for all that --enable names.",
            ETWAS_STEER_EVENT_TEXT,
            "--min-buffers are there from the start on. A flight recorder has only these. "
            "--flush also writes buffers that are not full, in whole milliseconds.",
            "Without an option of how it is written, a session writes a file to its end. The "
            "session ends when the file has --max-size, unless --circular or --newfile is given.",
            "--buffering keeps the newest events in memory, and etwas snapshot writes them to a "
            "file. --circular replaces the oldest buffers of the file. --newfile needs %d in PATH, "
            "which becomes the number of each file. --append needs --buffer-size, and the clock is "
            "the system's. --realtime is for consumers in other processes.",
            NULL,
        },
    .options = etwas_steer_start_options,
    .examples =
        (const struct etwas_example[]){
            {"etwas start -o shop.etl --enable Shop.Till shop", "Record a provider to a file."},
            {"etwas start --buffering --min-buffers 256 -e Shop.Till:0x1:warning recorder",
             "Keep the newest warnings of one keyword in memory."},
            {NULL, NULL},
        },
    .run = run_start,
};
