/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A trace file as `etwas` shows it: the command and its options are chosen by the file's last byte.
 * The mutator is etl_mutate.c.
 */
#include <errno.h>
#include <getopt.h>
#include <sanitizer/lsan_interface.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/guides.h"
#include "commands.h"
#include "exit.h"
#include "print/output.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void *etwas_fuzz_keep(void *memory, size_t bytes);

enum {
    MOST_ARGUMENTS = 6
};

/* Stands for a path where the command may make a file; what it makes is looked at. */
#define MADE "?"

#define EMPTY_FOLDER "/dev/shm/etwas-tool-fuzz"

/* In place of commands.c: those that read traces. */
const struct etwas_command *const etwas_commands[] = {
    &etwas_advise_command, &etwas_convert_command,
    &etwas_diff_command,   &etwas_dump_command,
    &etwas_report_command, &etwas_schema_command,
    &etwas_spans_command,  &etwas_stat_command,
    &etwas_why_command,    NULL,
};
const struct etwas_guide etwas_guides[] = {{NULL, NULL, NULL}};

static const char *const calls[][MOST_ARGUMENTS] = {
    {"dump"},
    {"dump", "--json"},
    {"dump", "--csv", "--columns", "time,event,size,duration,duration_error"},
    {"dump", "--where", "size > 1 && duration > 5us || Number == 7"},
    {"dump", "--hex", "--times=raw"},
    {"stat"},
    {"stat", "--json"},
    {"stat", "--cpu-time"},
    {"stat", "--cpu-time", "--json"},
    {"stat", "--hot"},
    {"stat", "--heap"},
    {"stat", "--prove"},
    {"stat", "--prove", "--json"},
    {"schema"},
    {"schema", "--json"},
    {"spans", "--slowest=4", "--open=9"},
    {"report", "--json"},
    {"report", "--json", "@"},
    {"report", "--json", "--from=+0.001", "--where=duration > 1ms"},
    {"convert", "--to=chrome"},
    {"convert", "--to=etl", "--output", MADE},
    {"convert", "--to=etl", "--compress", "--output", MADE},
    {"convert", "--to=etl", "--output", MADE, "--from=+0.001", "@"},
    {"convert", "--to=folded"},
    {"convert", "--to=speedscope"},
    {"convert", "--to=pprof"},
    /* To what is empty and cannot be replaced: all is written, and taken away again. */
    {"convert", "--to=ctf", "--output=" EMPTY_FOLDER "/."},
    {"convert", "--to=perfetto"},
    {"spans", "--json", "--where=duration > 1ms"},
    {"spans", "--slowest=4", "--until=-0.001", "@"},
    {"diff", "@", "--against"},
    {"diff", "--json", "@", "@", "--against", "@"},
    {"diff", "--from=+0.001", "@", "--against"},
    {"why"},
    {"why", "--json"},
    {"why", "--until=-0.001"},
    {"advise"},
    {"advise", "--history", "0.5", "--json"},
    {"advise", "--history", "0.001", "--buffers", "4"},
    {"advise", "--json", "--flush", "1s", "--buffers", "2,9"},
    {"convert", "--to=otlp"},
    {"convert", "--to=otlp", "--where=duration > 1us", "@"},
};

/*
 * print/output.c calls this in place of realloc. Memory for its texts the command keeps until it
 * ends, and here is forgotten where: that is no leak.
 */
void *etwas_fuzz_keep(void *memory, size_t bytes)
{
    void *kept;

    __lsan_disable();
    kept = realloc(memory, bytes);
    __lsan_enable();
    return kept;
}

/* The linker defines these: tool_state.ld. */
extern uint64_t tool_data[];
extern uint64_t tool_data_end[];
extern uint8_t tool_bss[];
extern uint8_t tool_bss_end[];

/*
 * AddressSanitizer watches what lies between variables, but not what this function does; volatile
 * keeps it from becoming memcpy, which is watched.
 */
__attribute__((no_sanitize("address"))) static void copy_words(volatile uint64_t *to,
                                                               const volatile uint64_t *from,
                                                               size_t words)
{
    for (size_t i = 0; i < words; i++) {
        to[i] = from[i];
    }
}

/* Makes the state of the tools what it was before the first command. */
static void forget(void)
{
    static uint64_t *data;
    size_t words = (size_t)(tool_data_end - tool_data);

    if (data == NULL) {
        data = malloc(words * sizeof *data);
        MUST(data != NULL);
        copy_words(data, tool_data, words);
    }
    copy_words(tool_data, data, words);
    MUST(madvise(tool_bss, (size_t)(tool_bss_end - tool_bss), MADV_DONTNEED) == 0);
}

/* What lasts as long as the program. */
static void let_go(void)
{
    etwas_output_free(etwas_standard_output());
    etwas_files_free();
}

static void run(const struct etwas_command *command, char **arguments, int count)
{
    int code;

    forget();
    optind = 0;
    code = command->run(count, arguments);
    let_go();
    MUST(code >= ETWAS_EXIT_DONE && code <= ETWAS_EXIT_OUTPUT);
}

/* Whatever the file was that it is made of, nothing is wrong with this one. */
static void look_at_made(char *path)
{
    char name[] = "stat";
    char *arguments[] = {name, path, NULL};

    if (access(path, F_OK) == 0) {
        forget();
        optind = 0;
        MUST(etwas_stat_command.run(2, arguments) == ETWAS_EXIT_DONE);
        let_go();
        MUST(unlink(path) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const *call =
        calls[size > 0 ? data[size - 1] % (sizeof calls / sizeof calls[0]) : 0];
    char texts[MOST_ARGUMENTS + 1][64];
    char *arguments[MOST_ARGUMENTS + 2] = {NULL};
    char path[64];
    char made[64];
    int count = 0;
    int file = memfd_create("trace", MFD_CLOEXEC);

    MUST(mkdir(EMPTY_FOLDER, 0777) == 0 || errno == EEXIST);
    (void)snprintf(made, sizeof made, "/tmp/etwas-tool-fuzz.%d", (int)getpid());
    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (; count < MOST_ARGUMENTS && call[count] != NULL; count++) {
        const char *argument = call[count];

        (void)snprintf(texts[count], sizeof texts[count], "%s",
                       strcmp(argument, "@") == 0    ? path
                       : strcmp(argument, MADE) == 0 ? made
                                                     : argument);
        arguments[count] = texts[count];
    }
    (void)snprintf(texts[count], sizeof texts[count], "%s", path);
    arguments[count] = texts[count];
    run(etwas_command_find(call[0]), arguments, count + 1);
    look_at_made(made);
    (void)close(file);
    return 0;
}
