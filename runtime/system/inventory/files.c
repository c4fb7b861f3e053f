/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads files, which are not trusted. */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/inventory/inventory_internal.h"
#include "system/stream/pseudo_file.h"

#define BLANKS " \t\r\n"

/* Returns false if the path is too long, or enough files have been read. */
static bool make_path(struct etwas_inventory *inventory, char *full, const char *path,
                      va_list values)
{
    int length = snprintf(full, ETWAS_INVENTORY_PATH_BYTES, "%s/", inventory->root);
    size_t left;

    if (inventory->steps_left == 0 || length < 0 || length >= ETWAS_INVENTORY_PATH_BYTES) {
        return false;
    }
    inventory->steps_left--;
    left = ETWAS_INVENTORY_PATH_BYTES - (size_t)length;
    length = vsnprintf(full + length, left, path, values);
    return length >= 0 && (size_t)length < left;
}

/* Other files are not opened, since opening may wait or have effects. */
static int open_regular(const char *path)
{
    struct stat found;
    int file;

    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) {
        return -1;
    }
    file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &found) != 0 || !S_ISREG(found.st_mode))) {
        (void)close(file);
        return -1;
    }
    return file;
}

static bool file_read_text(const char *path, char *text, size_t size)
{
    ssize_t bytes = etwas_pseudo_file_read(open_regular(path), text, size - 1);

    text[bytes > 0 ? bytes : 0] = 0;
    return bytes > 0;
}

static bool text_at(struct etwas_inventory *inventory, char *text, size_t size, const char *path,
                    va_list values)
{
    char full[ETWAS_INVENTORY_PATH_BYTES];

    text[0] = 0;
    return make_path(inventory, full, path, values) && file_read_text(full, text, size);
}

static bool line_at(struct etwas_inventory *inventory, char *line, size_t size, const char *path,
                    va_list values)
{
    size_t blanks;
    size_t length;

    if (!text_at(inventory, line, size, path, values)) {
        return false;
    }
    blanks = strspn(line, BLANKS);
    length = strcspn(line + blanks, "\r\n");
    memmove(line, line + blanks, length);
    while (length > 0 && strchr(BLANKS, line[length - 1]) != NULL) {
        length--;
    }
    line[length] = 0;
    return length > 0;
}

bool etwas_inventory_text(struct etwas_inventory *inventory, char *text, size_t size,
                          const char *path, ...)
{
    va_list values;
    bool good;

    va_start(values, path);
    good = text_at(inventory, text, size, path, values);
    va_end(values);
    return good;
}

bool etwas_inventory_line(struct etwas_inventory *inventory, char *line, size_t size,
                          const char *path, ...)
{
    va_list values;
    bool good;

    va_start(values, path);
    good = line_at(inventory, line, size, path, values);
    va_end(values);
    return good;
}

uint64_t etwas_inventory_number(struct etwas_inventory *inventory, const char *path, ...)
{
    const int hexadecimal = 16;
    const int decimal = 10;
    char line[ETWAS_INVENTORY_LINE_BYTES];
    va_list values;
    bool good;

    va_start(values, path);
    good = line_at(inventory, line, sizeof line, path, values);
    va_end(values);
    if (!good || line[0] < '0' || line[0] > '9') {
        return 0;
    }
    return strtoull(line, NULL, strncmp(line, "0x", 2) == 0 ? hexadecimal : decimal);
}

bool etwas_inventory_link(struct etwas_inventory *inventory, char *name, size_t size,
                          const char *path, ...)
{
    char full[ETWAS_INVENTORY_PATH_BYTES];
    char target[ETWAS_INVENTORY_PATH_BYTES];
    const char *last;
    va_list values;
    ssize_t bytes;
    bool good;

    name[0] = 0;
    va_start(values, path);
    good = make_path(inventory, full, path, values);
    va_end(values);
    bytes = good ? readlink(full, target, sizeof target - 1) : -1;
    if (bytes <= 0) {
        return false;
    }
    target[bytes] = 0;
    last = strrchr(target, '/');
    last = last == NULL ? target : last + 1;
    if (strlen(last) >= size) {
        return false;
    }
    memcpy(name, last, strlen(last) + 1);
    return name[0] != 0;
}

void etwas_inventory_each(struct etwas_inventory *inventory, etwas_inventory_each_name each,
                          void *context, const char *path, ...)
{
    char full[ETWAS_INVENTORY_PATH_BYTES];
    const struct dirent *entry;
    va_list values;
    DIR *folder;
    bool good;

    va_start(values, path);
    good = make_path(inventory, full, path, values);
    va_end(values);
    folder = good ? opendir(full) : NULL;
    if (folder == NULL) {
        return;
    }
    while (inventory->steps_left > 0 && (entry = readdir(folder)) != NULL) {
        inventory->steps_left--;
        if (entry->d_name[0] != '.') {
            each(inventory, entry->d_name, context);
        }
    }
    (void)closedir(folder);
}

void etwas_inventory_list_add(char *list, size_t size, const char *separator, const char *item)
{
    size_t used = strlen(list);
    int more = snprintf(list + used, size - used, "%s%s", used == 0 ? "" : separator, item);

    if (more < 0 || (size_t)more >= size - used) {
        list[used] = 0;
    }
}

const char *etwas_inventory_value(const char *text, const char *name)
{
    const size_t bytes = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, bytes) == 0) {
            return line + bytes;
        }
        if (*line == 0) {
            break;
        }
    }
    return NULL;
}
