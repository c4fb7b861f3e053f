/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/inventory/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES = 1 << 20,
    MOST_MOUNTS = 8192,
    OCTAL_DIGITS = 3,
    OCTAL_BITS = 3,
    DECIMAL = 10,
};

uint32_t etwas_device_number(const char *text)
{
    char *end;
    unsigned long major = strtoul(text, &end, DECIMAL);
    unsigned long minor = *end == ':' ? strtoul(end + 1, NULL, DECIMAL) : 0;

    return (uint32_t)(major << ETWAS_DEVICE_MAJOR_SHIFT | minor);
}

static bool is_octal(char digit)
{
    return digit >= '0' && digit <= '7';
}

/* Blanks and the like are written as \040. */
static void unescape(char *text)
{
    char *to = text;

    while (*text != 0) {
        if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
            *to++ = (char)((text[1] - '0') << 2 * OCTAL_BITS | (text[2] - '0') << OCTAL_BITS |
                           (text[3] - '0'));
            text += 1 + OCTAL_DIGITS;
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
}

/* "27 1 254:0 / /mnt rw,relatime shared:1 - ext4 /dev/vda rw". The words point into the line. */
static bool read_mount(char *line, struct etwas_mount *mount)
{
    enum {
        DEVICE = 2,
        POINT = 4,
        HEAD = 6,
    };
    char *head[HEAD];
    char *next = line;

    for (int word = 0; word < HEAD; word++) {
        if ((head[word] = strsep(&next, " ")) == NULL) {
            return false;
        }
    }
    while (next != NULL && strncmp(next, "- ", 2) != 0) {
        (void)strsep(&next, " ");
    }
    if (next == NULL) {
        return false;
    }
    (void)strsep(&next, " ");
    mount->type = strsep(&next, " ");
    mount->source = next == NULL ? NULL : strsep(&next, " ");
    unescape(head[POINT]);
    mount->point = head[POINT];
    mount->device = etwas_device_number(head[DEVICE]);
    return mount->source != NULL;
}

void etwas_mounts_read(struct etwas_inventory *inventory, struct etwas_mounts *mounts)
{
    char *next;
    char *line;

    *mounts =
        (struct etwas_mounts){malloc(TEXT_BYTES), malloc(MOST_MOUNTS * sizeof *mounts->mounts), 0};
    if (mounts->text == NULL || mounts->mounts == NULL ||
        !etwas_inventory_text(inventory, mounts->text, TEXT_BYTES, "proc/self/mountinfo")) {
        return;
    }
    next = mounts->text;
    while (mounts->count < MOST_MOUNTS && (line = strsep(&next, "\n")) != NULL && next != NULL) {
        if (read_mount(line, &mounts->mounts[mounts->count])) {
            mounts->count++;
        }
    }
}

void etwas_mounts_free(struct etwas_mounts *mounts)
{
    free(mounts->text);
    free(mounts->mounts);
}

const struct etwas_mount *etwas_mounts_find(const struct etwas_mounts *mounts, uint32_t device,
                                            const char *name)
{
    static const char folder[] = "/dev/";

    for (uint32_t index = 0; index < mounts->count; index++) {
        const struct etwas_mount *mount = &mounts->mounts[index];

        if (mount->device == device || (strncmp(mount->source, folder, sizeof folder - 1) == 0 &&
                                        strcmp(mount->source + sizeof folder - 1, name) == 0)) {
            return mount;
        }
    }
    return NULL;
}

/* Whether it is on a local device with a driver in the kernel, or in memory. */
static bool is_near(const struct etwas_mount *mount)
{
    static const char *const in_memory[] = {"tmpfs",   "ramfs",  "devtmpfs",
                                            "overlay", "rootfs", "squashfs"};

    if (strncmp(mount->type, "fuse", strlen("fuse")) == 0) {
        return false;
    }
    for (size_t index = 0; index < sizeof in_memory / sizeof in_memory[0]; index++) {
        if (strcmp(mount->type, in_memory[index]) == 0) {
            return true;
        }
    }
    return strncmp(mount->source, "/dev/", strlen("/dev/")) == 0;
}

static bool is_on_the_way(const char *point, const char *path)
{
    size_t bytes = strlen(point);

    return strcmp(point, "/") == 0 ||
           (strncmp(path, point, bytes) == 0 && (path[bytes] == '/' || path[bytes] == 0));
}

bool etwas_mounts_space(const struct etwas_inventory *inventory, const struct etwas_mounts *mounts,
                        const struct etwas_mount *mount, struct statvfs *space)
{
    char path[ETWAS_INVENTORY_PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s", inventory->root, mount->point);

    for (uint32_t index = 0; index < mounts->count; index++) {
        const struct etwas_mount *other = &mounts->mounts[index];

        if (is_on_the_way(other->point, mount->point) && !is_near(other)) {
            length = -1;
        }
    }
    if (length > 0 && (size_t)length < sizeof path && statvfs(path, space) == 0) {
        return true;
    }
    *space = (struct statvfs){0};
    return false;
}
