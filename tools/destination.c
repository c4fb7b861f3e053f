/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file or folder that appears when it is whole.
 */

#include "destination.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const struct etwas_destination *place, const char *what)
{
    fprintf(stderr, "%s: cannot %s '%s': %s\n", place->command, what, place->path, strerror(errno));
    return false;
}

/* Who replaces a device or a pipe by a file has lost it: that is written to as it is. */
static bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* As open(2) would have made it. */
static mode_t usual_mode(mode_t all)
{
    mode_t mask = umask(0);

    umask(mask);
    return all & ~mask;
}

static int make_folder(char *name)
{
    int descriptor;

    if (mkdtemp(name) == NULL) {
        return -1;
    }
    descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fchmod(descriptor, usual_mode(0777));
    } else {
        (void)rmdir(name);
    }
    return descriptor;
}

static int make_file(char *name)
{
    int descriptor = mkostemp(name, O_CLOEXEC);

    if (descriptor >= 0) {
        (void)fchmod(descriptor, usual_mode(0666));
    }
    return descriptor;
}

bool etwas_destination_is_input(const struct etwas_destination *place, char *const *inputs,
                                uint32_t count)
{
    struct stat output;
    struct stat input;
    bool is_input = false;

    if (place->path == NULL || stat(place->path, &output) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < count && !is_input; i++) {
        is_input = stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev &&
                   input.st_ino == output.st_ino;
    }
    return is_input;
}

bool etwas_destination_open(struct etwas_destination *place)
{
    size_t bytes;

    place->descriptor = STDOUT_FILENO;
    if (place->path == NULL) {
        return true;
    }
    if (!place->is_folder && is_special(place->path)) {
        place->descriptor = open(place->path, O_WRONLY | O_CLOEXEC);
        return place->descriptor >= 0 || refuse(place, "open");
    }
    bytes = strlen(place->path);
    while (bytes > 1 && place->path[bytes - 1] == '/') {
        bytes--;
    }
    if (asprintf(&place->making, "%.*s.XXXXXX", (int)bytes, place->path) < 0) {
        place->making = NULL;
        return refuse(place, "make");
    }
    place->descriptor = place->is_folder ? make_folder(place->making) : make_file(place->making);
    if (place->descriptor < 0) {
        refuse(place, "make");
        free(place->making);
        place->making = NULL;
    }
    return place->making != NULL;
}

/* All that was written is on its way to the disk without an error, and the name is the output's. */
static bool is_whole(const struct etwas_destination *place)
{
    if (!place->is_folder && close(place->descriptor) != 0) {
        return refuse(place, "write");
    }
    return place->making == NULL || rename(place->making, place->path) == 0 ||
           refuse(place, "make");
}

bool etwas_destination_keep(struct etwas_destination *place)
{
    if (place->path == NULL) {
        return true;
    }
    if (!is_whole(place)) {
        etwas_destination_drop(place);
        return false;
    }
    free(place->making);
    place->making = NULL;
    return true;
}

bool etwas_destination_keep_written(struct etwas_destination *place, struct etwas_output *output)
{
    etwas_output_flush(output);
    if (output->error != 0) {
        errno = output->error;
        refuse(place, "write");
        etwas_destination_drop(place);
        return false;
    }
    return etwas_destination_keep(place);
}

/* A folder, whose descriptor it takes, with the folders in it. */
static void empty(int descriptor)
{
    DIR *folder = fdopendir(descriptor);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        bool is_inner = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        int inner = -1;

        if (is_inner && unlinkat(descriptor, entry->d_name, 0) != 0) {
            inner = openat(descriptor, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        if (inner >= 0) {
            empty(inner);
            (void)unlinkat(descriptor, entry->d_name, AT_REMOVEDIR);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

void etwas_destination_drop(struct etwas_destination *place)
{
    if (place->making == NULL) {
        return;
    }
    if (place->is_folder) {
        empty(place->descriptor);
        (void)rmdir(place->making);
    } else {
        (void)unlink(place->making);
    }
    free(place->making);
    place->making = NULL;
}
