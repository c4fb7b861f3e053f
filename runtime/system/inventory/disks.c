/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Disks, their volumes, and optical drives, with the mounted file systems, as the process sees
 * them. A disk's number is that of the kernel's events: major << 20 | minor. Linux has no tracks,
 * so a disk has one sector per track and one track per cylinder; the product is its size.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "system/inventory/inventory_internal.h"

enum {
    SIZE_UNIT = 512, /* of sysfs */
    LETTER_CHARACTERS = 4,
    IS_PARTITION = 1,
    IS_VOLUME = 2,
    BUS_ATAPI = 2,
    DEVICE_CD_ROM = 2,
    MOUNTS_TEXT_BYTES = 1 << 20,
    MOST_MOUNTS = 8192,
    OCTAL_DIGITS = 3,
    OCTAL_BITS = 3,
    DECIMAL = 10,
    DEVICE_MAJOR_SHIFT = 20, /* devices are numbered as in the kernel's events */
};

/* ---- file systems ---------------------------------------------------------------------------- */

struct mount {
    uint32_t device;
    const char *point;
    const char *type;
    const char *source;
};

struct mounts {
    char *text;
    struct mount *mounts;
    uint32_t count;
};

/* Parses a device number such as "254:0". */
static uint32_t device_number(const char *text)
{
    char *end;
    unsigned long major = strtoul(text, &end, DECIMAL);
    unsigned long minor = *end == ':' ? strtoul(end + 1, NULL, DECIMAL) : 0;

    return (uint32_t)(major << DEVICE_MAJOR_SHIFT | minor);
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
static bool read_mount(char *line, struct mount *mount)
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
    mount->device = device_number(head[DEVICE]);
    return mount->source != NULL;
}

/* Reads the mounts. Without memory there are none. */
static void mounts_read(struct etwas_inventory *inventory, struct mounts *mounts)
{
    char *next;
    char *line;

    *mounts =
        (struct mounts){malloc(MOUNTS_TEXT_BYTES), malloc(MOST_MOUNTS * sizeof *mounts->mounts), 0};
    if (mounts->text == NULL || mounts->mounts == NULL ||
        !etwas_inventory_text(inventory, mounts->text, MOUNTS_TEXT_BYTES, "proc/self/mountinfo")) {
        return;
    }
    next = mounts->text;
    while (mounts->count < MOST_MOUNTS && (line = strsep(&next, "\n")) != NULL && next != NULL) {
        if (read_mount(line, &mounts->mounts[mounts->count])) {
            mounts->count++;
        }
    }
}

static void mounts_free(struct mounts *mounts)
{
    free(mounts->text);
    free(mounts->mounts);
}

/*
 * Finds the file system of a device, by its number or as /dev/`name`. NULL: it has none that is
 * mounted.
 */
static const struct mount *mounts_find(const struct mounts *mounts, uint32_t device,
                                       const char *name)
{
    static const char folder[] = "/dev/";

    for (uint32_t index = 0; index < mounts->count; index++) {
        const struct mount *mount = &mounts->mounts[index];

        if (mount->device == device || (strncmp(mount->source, folder, sizeof folder - 1) == 0 &&
                                        strcmp(mount->source + sizeof folder - 1, name) == 0)) {
            return mount;
        }
    }
    return NULL;
}

/* Whether the file system is on a local device with a kernel driver, or in memory. */
static bool is_near(const struct mount *mount)
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

/*
 * Reads how full a file system is. Returns false, with all values 0, if the system does not say. It
 * also does so if the call might wait for another machine or a program, at the file system or on
 * the path to it.
 */
static bool mounts_space(const struct etwas_inventory *inventory, const struct mounts *mounts,
                         const struct mount *mount, struct statvfs *space)
{
    char path[ETWAS_INVENTORY_PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s", inventory->root, mount->point);

    for (uint32_t index = 0; index < mounts->count; index++) {
        const struct mount *other = &mounts->mounts[index];

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

/* ---- volumes and disks ----------------------------------------------------------------------- */

struct disk {
    const char *name;
    const struct mounts *mounts;
    uint32_t number;
    uint32_t sector_bytes;
    uint32_t partition_count;
    uint64_t bytes;
    bool has_root; /* the root file system is on it */
};

/* What may hold a file system. */
struct volume {
    uint32_t type;
    uint32_t partition;
    uint64_t start;
    uint64_t bytes;
    const struct mount *mount;
};

static uint32_t at_most_u32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static bool fits(const char *text, size_t characters)
{
    return strlen(text) < characters;
}

/* Linux has no drive letters: the mount point, if it is as short as one. */
static void emit_volume(struct etwas_inventory *inventory, struct disk *disk,
                        const struct volume *volume)
{
    struct statvfs space = {0};
    const char *point = "";
    const char *type = "";

    if (volume->mount != NULL) {
        point = volume->mount->point;
        type = volume->mount->type;
        disk->has_root |= strcmp(point, "/") == 0;
        (void)mounts_space(inventory, disk->mounts, volume->mount, &space);
    }
    ETWAS_INVENTORY_MAKE(
        inventory, LOGICAL_DISK, .StartOffset = volume->start, .PartitionSize = volume->bytes,
        .DiskNumber = disk->number, .Size = at_most_u32(volume->bytes), .DriveType = volume->type,
        .DriveLetterString = fits(point, LETTER_CHARACTERS) ? point : "",
        .PartitionNumber = volume->partition,
        .SectorsPerCluster = (uint32_t)space.f_frsize / disk->sector_bytes,
        .BytesPerSector = disk->sector_bytes, .NumberOfFreeClusters = (int64_t)space.f_bfree,
        .TotalNumberOfClusters = (int64_t)space.f_blocks, .FileSystem = type);
    etwas_inventory_end(inventory);
}

static uint32_t number_of(struct etwas_inventory *inventory, const char *disk, const char *name)
{
    char line[ETWAS_INVENTORY_LINE_BYTES];

    (void)etwas_inventory_line(inventory, line, sizeof line, "sys/block/%s/%s/dev", disk, name);
    return device_number(line);
}

static void emit_partition(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct disk *disk = context;
    struct volume volume = {.type = IS_PARTITION};

    if (strncmp(name, disk->name, strlen(disk->name)) != 0) {
        return;
    }
    volume.partition =
        (uint32_t)etwas_inventory_number(inventory, "sys/block/%s/%s/partition", disk->name, name);
    if (volume.partition == 0) {
        return;
    }
    volume.start =
        SIZE_UNIT * etwas_inventory_number(inventory, "sys/block/%s/%s/start", disk->name, name);
    volume.bytes =
        SIZE_UNIT * etwas_inventory_number(inventory, "sys/block/%s/%s/size", disk->name, name);
    volume.mount = mounts_find(disk->mounts, number_of(inventory, disk->name, name), name);
    disk->partition_count++;
    emit_volume(inventory, disk, &volume);
}

static void read_maker(struct etwas_inventory *inventory, const char *disk, char *maker,
                       size_t size)
{
    char model[ETWAS_INVENTORY_LINE_BYTES];

    (void)etwas_inventory_line(inventory, maker, size, "sys/block/%s/device/vendor", disk);
    if (etwas_inventory_line(inventory, model, sizeof model, "sys/block/%s/device/model", disk)) {
        etwas_inventory_list_add(maker, size, " ", model);
    }
}

/* `address`: host, channel, target and unit of sd and sr; all 0 for other disks. */
static void emit_physical(struct etwas_inventory *inventory, const struct disk *disk,
                          const char *address)
{
    char maker[2 * ETWAS_INVENTORY_LINE_BYTES];
    char cache[ETWAS_INVENTORY_LINE_BYTES];
    uint32_t scsi[4];

    read_maker(inventory, disk->name, maker, sizeof maker);
    (void)etwas_inventory_line(inventory, cache, sizeof cache, "sys/block/%s/queue/write_cache",
                               disk->name);
    if (sscanf(address, "%u:%u:%u:%u", &scsi[0], &scsi[1], &scsi[2], &scsi[3]) != 4) {
        memset(scsi, 0, sizeof scsi);
    }
    ETWAS_INVENTORY_MAKE(
        inventory, PHYSICAL_DISK, .DiskNumber = disk->number, .BytesPerSector = disk->sector_bytes,
        .SectorsPerTrack = 1, .TracksPerCylinder = 1, .Cylinders = disk->bytes / disk->sector_bytes,
        .SCSIPort = scsi[0], .SCSIPath = scsi[1], .SCSITarget = scsi[2], .SCSILun = scsi[3],
        .Manufacturer = maker, .PartitionCount = disk->partition_count,
        .WriteCacheEnabled = strcmp(cache, "write back") == 0,
        .BootDriveLetter = disk->has_root ? "/" : "");
    etwas_inventory_end(inventory);
}

static void emit_optical(struct etwas_inventory *inventory, const struct disk *disk)
{
    const struct mount *mount = mounts_find(disk->mounts, disk->number, disk->name);
    char maker[2 * ETWAS_INVENTORY_LINE_BYTES];
    unsigned index = 0;

    (void)sscanf(disk->name, "sr%u", &index);
    read_maker(inventory, disk->name, maker, sizeof maker);
    ETWAS_INVENTORY_MAKE(inventory, OPTICAL, .DiskNumber = (uint16_t)index, .BusType = BUS_ATAPI,
                         .DeviceType = DEVICE_CD_ROM, .Size = disk->bytes,
                         .TotalNumberOfBlocks = disk->bytes / disk->sector_bytes,
                         .BytesPerSector = disk->sector_bytes,
                         .DriveLetter = mount == NULL ? NULL : mount->point,
                         .FileSystemName = mount == NULL ? NULL : mount->type,
                         .DeviceName = disk->name, .ManufacturerName = maker);
    etwas_inventory_end(inventory);
}

static void emit_disk(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct disk disk = {.name = name, .mounts = context};
    struct volume whole = {.type = IS_VOLUME};
    char line[ETWAS_INVENTORY_LINE_BYTES];
    bool is_device;

    (void)etwas_inventory_line(inventory, line, sizeof line, "sys/block/%s/dev", name);
    disk.number = device_number(line);
    disk.sector_bytes = at_most_u32(
        etwas_inventory_number(inventory, "sys/block/%s/queue/logical_block_size", name));
    disk.sector_bytes = disk.sector_bytes == 0 ? SIZE_UNIT : disk.sector_bytes;
    disk.bytes = SIZE_UNIT * etwas_inventory_number(inventory, "sys/block/%s/size", name);
    /* Loops, RAM disks, mappers and arrays have no device. */
    is_device = etwas_inventory_link(inventory, line, sizeof line, "sys/block/%s/device", name);
    if (is_device && strncmp(name, "sr", 2) == 0 && isdigit((unsigned char)name[2])) {
        emit_optical(inventory, &disk);
        return;
    }
    etwas_inventory_each(inventory, emit_partition, &disk, "sys/block/%s", name);
    whole.mount = mounts_find(disk.mounts, disk.number, name);
    if (whole.mount != NULL) {
        whole.bytes = disk.bytes;
        emit_volume(inventory, &disk, &whole);
    }
    if (is_device) {
        emit_physical(inventory, &disk, line);
    }
}

void etwas_inventory_disks(struct etwas_inventory *inventory)
{
    struct mounts mounts;

    mounts_read(inventory, &mounts);
    etwas_inventory_each(inventory, emit_disk, &mounts, "sys/block");
    mounts_free(&mounts);
}
