/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A program of the build: generates files from the tables of the commands into a folder. */

#include "manual/manual.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct etwas_output *open_file(struct etwas_output *output, const char *folder,
                                      const char *name, char path[4096])
{
    int descriptor;

    snprintf(path, 4096, "%s/%s", folder, name);
    descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        fprintf(stderr, "etwas_manual: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    *output = (struct etwas_output){0};
    etwas_output_to(output, descriptor);
    output->path = path;
    return output;
}

static bool close_file(struct etwas_output *output)
{
    bool is_written = etwas_output_finish(output);

    etwas_output_free(output);
    return close(output->descriptor) == 0 && is_written;
}

static bool write_pages(const char *folder, const char *version)
{
    struct etwas_output output;
    char path[4096];
    char name[64];

    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        snprintf(name, sizeof name, "etwas-%s.1", etwas_commands[i]->name);
        if (open_file(&output, folder, name, path) == NULL) {
            return false;
        }
        etwas_manual_page(&output, etwas_commands[i], version);
        if (!close_file(&output)) {
            return false;
        }
    }
    if (open_file(&output, folder, "etwas.1", path) == NULL) {
        return false;
    }
    etwas_manual_overview(&output, version);
    return close_file(&output);
}

static bool write_file(const char *folder, const char *name,
                       void (*print)(struct etwas_output *output))
{
    struct etwas_output output;
    char path[4096];

    if (open_file(&output, folder, name, path) == NULL) {
        return false;
    }
    print(&output);
    return close_file(&output);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: etwas_manual FOLDER VERSION\n", stderr);
        return 2;
    }
    return write_pages(argv[1], argv[2]) && write_file(argv[1], "etwas.bash", etwas_manual_bash) &&
                   write_file(argv[1], "_etwas", etwas_manual_zsh) &&
                   write_file(argv[1], "etwas.fish", etwas_manual_fish) &&
                   write_file(argv[1], "commands.md", etwas_manual_reference)
               ? 0
               : 1;
}
