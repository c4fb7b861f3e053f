/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The launcher. It checks what can be checked before the program runs, passes the settings to the
 * library in environment variables, and becomes the program.
 */

#include "settings.h"
#include "stack.h"

#include <errno.h>
#include <etwas/etwas.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    EXIT_CANNOT_EXECUTE = 126,
    EXIT_NOT_FOUND = 127,
    DEFAULT_FRAMES = 32
};

static const char usage[] =
    "usage: heaptrace -o FILE [options] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM and logs each of its calls of malloc, calloc, realloc, reallocarray, free,\n"
    "posix_memalign, aligned_alloc, memalign, valloc and pvalloc to FILE, an .etl trace.\n"
    "\n"
    "  -o, --output FILE       the trace; replaced if it exists\n"
    "  -s, --stacks[=FRAMES]   also log the call stack of what allocates, up to 128 frames (32); "
    "see\n"
    "                          'etwas stat --heap'\n"
    "  -f, --follow            also trace what PROGRAM forks and executes, to FILE_PID\n"
    "  -c, --clock CLOCK       qpc (default), system or tsc\n"
    "  -b, --buffer-size KB    size of a buffer, 4 to 16384 (64)\n"
    "  -m, --minimum-buffers N buffers reserved at start (0: two for each processor)\n"
    "  -n, --buffers N         buffers at most (8192: 512 MiB with buffers of 64 KB)\n"
    "  -t, --flush SECONDS     time between writes of what is in unfilled buffers (1); a program\n"
    "                          that is killed loses what is younger\n"
    "      --shared            log into the shared session that enables heaptrace, without -o:\n"
    "                          etwas start -o FILE -e 6d2f3f0a-57f4-4f0c-9f3b-6a7b1c2f8e11 NAME\n"
    "      --counts FILE       write how many calls there were, as JSON, when the program ends\n"
    "      --help, --version\n"
    "\n"
    "The exit code is PROGRAM's, or 125 when it cannot be traced, 126 when it cannot be executed,\n"
    "127 when it is not found. Statically linked programs, and programs that get other rights "
    "when\n"
    "they are executed, leave an empty FILE: the system does not load the library into them.\n";

static _Noreturn void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(int code, const char *format, ...)
{
    va_list arguments;

    fputs("heaptrace: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(code);
}

static uint32_t number(const char *what, const char *text, uint32_t least, uint32_t most)
{
    char *end = NULL;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < least ||
        value > most) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s is a number from %" PRIu32 " to %" PRIu32 ", not '%s'",
             what, least, most, text);
    }
    return (uint32_t)value;
}

static uint32_t clock_number(const char *text)
{
    static const char *const names[] = {"qpc", "system", "tsc"};

    for (uint32_t index = 0; index < 3; index++) {
        if (strcmp(text, names[index]) == 0) {
            return ETWAS_CLOCK_QPC + index;
        }
    }
    fail(HEAPTRACE_EXIT_FAILURE, "the clocks are qpc, system and tsc, not '%s'", text);
}

/*
 * The library gets absolute paths, because the program may change its folder before its children
 * start.
 */
static void make_absolute(char *absolute, const char *path)
{
    char folder[HEAPTRACE_PATH_BYTES] = "";
    int length;

    if (*path == '\0') {
        fail(HEAPTRACE_EXIT_FAILURE, "a file name is empty");
    }
    if (*path != '/' && getcwd(folder, sizeof folder) == NULL) {
        fail(HEAPTRACE_EXIT_FAILURE, "the current folder has no name: %s", strerror(errno));
    }
    length =
        snprintf(absolute, HEAPTRACE_PATH_BYTES, "%s%s%s", folder, *path != '/' ? "/" : "", path);
    if (length < 0 || length >= HEAPTRACE_PATH_BYTES - HEAPTRACE_SUFFIX_BYTES) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: %s", path, strerror(ENAMETOOLONG));
    }
}

/*
 * Empties a file that will be written, so that mistakes show before the program runs and an older
 * trace is not taken for this one. Fails if a session is writing the file, which etwas locks.
 */
static void prepare_file(const char *path)
{
    int file =
        open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);

    if (file < 0) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: %s", path, strerror(errno));
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: another session is writing this file", path);
    }
    if (ftruncate(file, 0) != 0) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: %s", path, strerror(errno));
    }
    (void)close(file);
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: %s", name, strerror(errno));
    }
}

/* Preloads libheaptrace.so, which is beside this program. */
static void set_preload(void)
{
    static char value[2 * PATH_MAX];
    char program[PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int needed;

    if (length <= 0) {
        fail(HEAPTRACE_EXIT_FAILURE, "/proc/self/exe: %s", strerror(errno));
    }
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    needed = snprintf(value, sizeof value, "%s/libheaptrace.so", program);
    if (needed < 0 || needed >= PATH_MAX) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: %s", program, strerror(ENAMETOOLONG));
    }
    if (access(value, R_OK) != 0) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: %s", value, strerror(errno));
    }
    if (strpbrk(value, ": ") != NULL) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s: LD_PRELOAD cannot hold a path with ':' or a space",
             value);
    }
    if (before != NULL && *before != '\0') {
        size_t used = strlen(value);

        needed = snprintf(value + used, sizeof value - used, ":%s", before);
        if (needed < 0 || (size_t)needed >= sizeof value - used) {
            fail(HEAPTRACE_EXIT_FAILURE, "LD_PRELOAD: %s", strerror(ENAMETOOLONG));
        }
    }
    set("LD_PRELOAD", value);
}

static void export_settings(const struct heaptrace_settings *settings)
{
    char numbers[96];

    (void)snprintf(numbers, sizeof numbers,
                   "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
                   " %" PRIu32 " %" PRIu32 " %" PRIu32,
                   settings->first_process_id, settings->follow, settings->clock,
                   settings->buffer_size_kb, settings->minimum_buffers, settings->maximum_buffers,
                   settings->flush_timer_s, settings->frames, settings->is_shared);
    set(HEAPTRACE_ENV_SETTINGS, numbers);
    set(HEAPTRACE_ENV_OUTPUT, settings->output);
    if (settings->is_shared != 0) {
        set("ETWAS_SHARED", "1");
    }
    if (settings->counts[0] != '\0') {
        set(HEAPTRACE_ENV_COUNTS, settings->counts);
    } else {
        (void)unsetenv(HEAPTRACE_ENV_COUNTS);
    }
    set_preload();
}

static void parse(int count, char *words[], struct heaptrace_settings *settings)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"stacks", optional_argument, NULL, 's'},
        {"follow", no_argument, NULL, 'f'},
        {"clock", required_argument, NULL, 'c'},
        {"buffer-size", required_argument, NULL, 'b'},
        {"minimum-buffers", required_argument, NULL, 'm'},
        {"buffers", required_argument, NULL, 'n'},
        {"flush", required_argument, NULL, 't'},
        {"counts", required_argument, NULL, 'C'},
        {"shared", no_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
    };
    int option;

    /* "+" stops at PROGRAM: the options after it belong to PROGRAM. */
    while ((option = getopt_long(count, words, "+o:s::fc:b:m:n:t:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            make_absolute(settings->output, optarg);
            break;
        case 's':
            settings->frames = optarg == NULL
                                   ? DEFAULT_FRAMES
                                   : number("--stacks", optarg, 1, HEAPTRACE_MOST_FRAMES);
            break;
        case 'f':
            settings->follow = 1;
            break;
        case 'c':
            settings->clock = clock_number(optarg);
            break;
        case 'b':
            settings->buffer_size_kb = number("--buffer-size", optarg, 4, 16384);
            break;
        case 'm':
            settings->minimum_buffers = number("--minimum-buffers", optarg, 0, 1u << 20);
            break;
        case 'n':
            settings->maximum_buffers = number("--buffers", optarg, 2, 1u << 20);
            break;
        case 't':
            settings->flush_timer_s = number("--flush", optarg, 1, 86400);
            break;
        case 'S':
            settings->is_shared = 1;
            break;
        case 'C':
            make_absolute(settings->counts, optarg);
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        case 'V':
            printf("heaptrace %d.%d.%d\n", ETWAS_VERSION_MAJOR, ETWAS_VERSION_MINOR,
                   ETWAS_VERSION_PATCH);
            exit(EXIT_SUCCESS);
        default:
            fputs("Try 'heaptrace --help'.\n", stderr);
            exit(HEAPTRACE_EXIT_FAILURE);
        }
    }
}

/* Searches as execvp does, so that a wrong name does not empty FILE. */
static bool can_be_executed(const char *name)
{
    const char *folders = getenv("PATH");
    char path[PATH_MAX];

    if (strchr(name, '/') != NULL || folders == NULL) {
        return access(name, X_OK) == 0;
    }
    for (;;) {
        size_t length = strcspn(folders, ":");
        int needed = snprintf(path, sizeof path, "%.*s%s%s", (int)length, folders,
                              length != 0 ? "/" : "", name);

        if (needed > 0 && (size_t)needed < sizeof path && access(path, X_OK) == 0) {
            return true;
        }
        if (folders[length] == '\0') {
            errno = ENOENT;
            return false;
        }
        folders += length + 1;
    }
}

static _Noreturn void fail_to_execute(const char *name)
{
    fail(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE, "%s: %s", name, strerror(errno));
}

int main(int count, char *words[])
{
    static struct heaptrace_settings settings = {
        .clock = ETWAS_CLOCK_QPC,
        .buffer_size_kb = 64,
        .maximum_buffers = 8192,
        .flush_timer_s = 1,
    };
    char **program;

    parse(count, words, &settings);
    program = words + optind;
    if (settings.is_shared != 0) {
        /* There is no trace. The path only gives the counts files different names. */
        make_absolute(settings.output, settings.counts[0] != '\0' ? settings.counts : "heaptrace");
    }
    if (settings.output[0] == '\0' || *program == NULL) {
        fail(HEAPTRACE_EXIT_FAILURE, "%s is missing; try 'heaptrace --help'",
             *program == NULL ? "the program" : "-o FILE");
    }
    if (!can_be_executed(program[0])) {
        fail_to_execute(program[0]);
    }
    if (settings.is_shared == 0) {
        prepare_file(settings.output);
    }
    if (settings.counts[0] != '\0') {
        prepare_file(settings.counts);
    }
    settings.first_process_id = (uint32_t)getpid();
    export_settings(&settings);
    (void)execvp(program[0], program);
    fail_to_execute(program[0]);
}
