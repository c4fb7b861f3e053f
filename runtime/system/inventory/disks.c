/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Disks, their volumes, and optical drives. A disk's number is that of the kernel's events: major
 * << 20 | minor. Linux has no tracks, so a disk has one sector a track and one track a cylinder;
 * their product is its size.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "system/inventory/mounts.h"

enum {
    SIZE_UNIT = 512, /* of sysfs */
    MANUFACTURER_CHARACTERS = 256,
    BOOT_LETTER_CHARACTERS = 3,
    LETTER_CHARACTERS = 4,
    SPARE_CHARACTERS = 2,
    FILE_SYSTEM_CHARACTERS = 16,
    IS_PARTITION = 1,
    IS_VOLUME = 2,
    BUS_ATAPI = 2,
    DEVICE_CD_ROM = 2,
};

struct disk {
    const char *name;
    const struct etwas_mounts *mounts;
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
    const struct etwas_mount *mount;
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
    struct etwas_record_builder *record = inventory->record;
    struct statvfs space = {0};
    const char *point = "";
    const char *type = "";

    if (volume->mount != NULL) {
        point = volume->mount->point;
        type = volume->mount->type;
        disk->has_root |= strcmp(point, "/") == 0;
        (void)etwas_mounts_space(inventory, disk->mounts, volume->mount, &space);
    }
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_LOGICAL_DISK);
    etwas_record_builder_put_u64(record, volume->start);
    etwas_record_builder_put_u64(record, volume->bytes);
    etwas_record_builder_put_u32(record, disk->number);
    etwas_record_builder_put_u32(record, at_most_u32(volume->bytes));
    etwas_record_builder_put_u32(record, volume->type);
    etwas_record_builder_put_utf16_field(record, fits(point, LETTER_CHARACTERS) ? point : "",
                                         LETTER_CHARACTERS);
    etwas_record_builder_put_u32(record, 0);
    etwas_record_builder_put_u32(record, volume->partition);
    etwas_record_builder_put_u32(record, (uint32_t)space.f_frsize / disk->sector_bytes);
    etwas_record_builder_put_u32(record, disk->sector_bytes);
    etwas_record_builder_put_u32(record, 0);
    etwas_record_builder_put_u64(record, space.f_bfree);
    etwas_record_builder_put_u64(record, space.f_blocks);
    etwas_record_builder_put_utf16_field(record, type, FILE_SYSTEM_CHARACTERS);
    etwas_record_builder_put_u32(record, 0);
    etwas_record_builder_put_u32(record, 0);
    etwas_inventory_end(inventory);
}

static uint32_t number_of(struct etwas_inventory *inventory, const char *disk, const char *name)
{
    char line[ETWAS_INVENTORY_LINE_BYTES];

    (void)etwas_inventory_line(inventory, line, sizeof line, "sys/block/%s/%s/dev", disk, name);
    return etwas_device_number(line);
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
    volume.mount = etwas_mounts_find(disk->mounts, number_of(inventory, disk->name, name), name);
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

/* As sd and sr have it: host, channel, target and unit; else all 0. */
static void put_scsi_address(struct etwas_inventory *inventory, const char *address)
{
    enum {
        PARTS = 4
    };
    uint32_t parts[PARTS];

    if (sscanf(address, "%u:%u:%u:%u", &parts[0], &parts[1], &parts[2], &parts[3]) != PARTS) {
        memset(parts, 0, sizeof parts);
    }
    etwas_record_builder_put(inventory->record, parts, sizeof parts);
}

static void emit_physical(struct etwas_inventory *inventory, const struct disk *disk,
                          const char *address)
{
    struct etwas_record_builder *record = inventory->record;
    char maker[2 * ETWAS_INVENTORY_LINE_BYTES];
    char cache[ETWAS_INVENTORY_LINE_BYTES];

    read_maker(inventory, disk->name, maker, sizeof maker);
    (void)etwas_inventory_line(inventory, cache, sizeof cache, "sys/block/%s/queue/write_cache",
                               disk->name);
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_PHYSICAL_DISK);
    etwas_record_builder_put_u32(record, disk->number);
    etwas_record_builder_put_u32(record, disk->sector_bytes);
    etwas_record_builder_put_u32(record, 1);
    etwas_record_builder_put_u32(record, 1);
    etwas_record_builder_put_u64(record, disk->bytes / disk->sector_bytes);
    put_scsi_address(inventory, address);
    etwas_record_builder_put_utf16_field(record, maker, MANUFACTURER_CHARACTERS);
    etwas_record_builder_put_u32(record, disk->partition_count);
    etwas_record_builder_put_u8(record, strcmp(cache, "write back") == 0);
    etwas_record_builder_put_u8(record, 0);
    etwas_record_builder_put_utf16_field(record, disk->has_root ? "/" : "", BOOT_LETTER_CHARACTERS);
    etwas_record_builder_put_utf16_field(record, "", SPARE_CHARACTERS);
    etwas_inventory_end(inventory);
}

static void emit_optical(struct etwas_inventory *inventory, const struct disk *disk)
{
    struct etwas_record_builder *record = inventory->record;
    const struct etwas_mount *mount = etwas_mounts_find(disk->mounts, disk->number, disk->name);
    char maker[2 * ETWAS_INVENTORY_LINE_BYTES];
    unsigned index = 0;

    (void)sscanf(disk->name, "sr%u", &index);
    read_maker(inventory, disk->name, maker, sizeof maker);
    etwas_inventory_begin(inventory, ETWAS_INVENTORY_OPTICAL);
    etwas_record_builder_put_u16(record, (uint16_t)index);
    etwas_record_builder_put_u16(record, BUS_ATAPI);
    etwas_record_builder_put_u16(record, DEVICE_CD_ROM);
    etwas_record_builder_put_u16(record, 0); /* MediaType */
    etwas_record_builder_put_u64(record, 0); /* StartingOffset */
    etwas_record_builder_put_u64(record, disk->bytes);
    etwas_record_builder_put_u64(record, 0); /* NumberOfFreeBlocks */
    etwas_record_builder_put_u64(record, disk->bytes / disk->sector_bytes);
    etwas_record_builder_put_u64(record, 0); /* NextWritableAddress */
    etwas_record_builder_put_u32(record, 0); /* NumberOfSessions */
    etwas_record_builder_put_u32(record, 0); /* NumberOfTracks */
    etwas_record_builder_put_u32(record, disk->sector_bytes);
    etwas_record_builder_put_u16(record, 0); /* DiscStatus */
    etwas_record_builder_put_u16(record, 0); /* LastSessionStatus */
    etwas_record_builder_put_utf16(record, mount == NULL ? "" : mount->point);
    etwas_record_builder_put_utf16(record, mount == NULL ? "" : mount->type);
    etwas_record_builder_put_ansi(record, disk->name);
    etwas_record_builder_put_ansi(record, maker);
    etwas_inventory_end(inventory);
}

static void emit_disk(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct disk disk = {.name = name, .mounts = context};
    struct volume whole = {.type = IS_VOLUME};
    char line[ETWAS_INVENTORY_LINE_BYTES];
    bool is_device;

    (void)etwas_inventory_line(inventory, line, sizeof line, "sys/block/%s/dev", name);
    disk.number = etwas_device_number(line);
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
    whole.mount = etwas_mounts_find(disk.mounts, disk.number, name);
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
    struct etwas_mounts mounts;

    etwas_mounts_read(inventory, &mounts);
    etwas_inventory_each(inventory, emit_disk, &mounts, "sys/block");
    etwas_mounts_free(&mounts);
}
