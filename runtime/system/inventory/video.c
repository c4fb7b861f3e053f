/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Video adapters: those of the direct rendering manager; if there are none, frame buffers.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    ATTACHED = 1,
    PRIMARY = 4,
    DECIMAL = 10,
};

struct adapter {
    uint32_t memory_bytes;
    uint32_t width;
    uint32_t height;
    uint32_t bits;
    uint32_t flags;
    char chip[ETWAS_INVENTORY_LINE_BYTES];
    char name[ETWAS_INVENTORY_LINE_BYTES];
    char device[ETWAS_INVENTORY_LINE_BYTES];
};

/* The class and an entry of it: "drm" and "card0". */
struct connectors {
    const char *card;
    struct adapter *adapter;
};

static void video_emit_adapter(struct etwas_inventory *inventory, const struct adapter *adapter)
{
    ETWAS_INVENTORY_MAKE(
        inventory, VIDEO, .MemorySize = adapter->memory_bytes, .XResolution = adapter->width,
        .YResolution = adapter->height, .BitsPerPixel = adapter->bits, .ChipType = adapter->chip,
        .AdapterString = adapter->name, .DeviceId = adapter->device, .StateFlags = adapter->flags);
    etwas_inventory_end(inventory);
}

/* "1920x1080", "1024,768". */
static void read_resolution(const char *line, struct adapter *adapter)
{
    char *end;

    adapter->width = (uint32_t)strtoul(line, &end, DECIMAL);
    adapter->height = *end == 0 ? 0 : (uint32_t)strtoul(end + 1, NULL, DECIMAL);
}

/* card0-HDMI-A-1. The first mode is the preferred one. */
static void read_connector(struct etwas_inventory *inventory, const char *name, void *context)
{
    const struct connectors *connectors = context;
    const size_t bytes = strlen(connectors->card);
    char line[ETWAS_INVENTORY_LINE_BYTES];

    if (strncmp(name, connectors->card, bytes) == 0 && name[bytes] == '-' &&
        etwas_inventory_line(inventory, line, sizeof line, "sys/class/drm/%s/status", name) &&
        strcmp(line, "connected") == 0 && (connectors->adapter->flags & ATTACHED) == 0) {
        connectors->adapter->flags |= ATTACHED;
        if (etwas_inventory_line(inventory, line, sizeof line, "sys/class/drm/%s/modes", name)) {
            read_resolution(line, connectors->adapter);
        }
    }
}

static bool is_numbered(const char *name, const char *head)
{
    const size_t bytes = strlen(head);

    return strncmp(name, head, bytes) == 0 && isdigit((unsigned char)name[bytes]) &&
           strspn(name + bytes, "0123456789") == strlen(name + bytes);
}

static void emit_card(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct adapter adapter = {0};
    struct connectors connectors = {name, &adapter};
    char device[ETWAS_INVENTORY_LINE_BYTES];
    uint64_t memory;

    if (!is_numbered(name, "card")) {
        return;
    }
    *(uint32_t *)context += 1;
    (void)etwas_inventory_line(inventory, adapter.chip, sizeof adapter.chip,
                               "sys/class/drm/%s/device/vendor", name);
    if (etwas_inventory_line(inventory, device, sizeof device, "sys/class/drm/%s/device/device",
                             name)) {
        etwas_inventory_list_add(adapter.chip, sizeof adapter.chip, ":", device);
    }
    (void)etwas_inventory_link(inventory, adapter.name, sizeof adapter.name,
                               "sys/class/drm/%s/device/driver", name);
    (void)etwas_inventory_link(inventory, adapter.device, sizeof adapter.device,
                               "sys/class/drm/%s/device", name);
    memory = etwas_inventory_number(inventory, "sys/class/drm/%s/device/mem_info_vram_total", name);
    adapter.memory_bytes = memory < UINT32_MAX ? (uint32_t)memory : UINT32_MAX;
    if (etwas_inventory_number(inventory, "sys/class/drm/%s/device/boot_vga", name) == 1) {
        adapter.flags |= PRIMARY;
    }
    etwas_inventory_each(inventory, read_connector, &connectors, "sys/class/drm");
    video_emit_adapter(inventory, &adapter);
}

static void emit_frame_buffer(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct adapter adapter = {.flags = ATTACHED};
    char line[ETWAS_INVENTORY_LINE_BYTES];

    (void)context;
    if (!is_numbered(name, "fb")) {
        return;
    }
    if (etwas_inventory_line(inventory, line, sizeof line, "sys/class/graphics/%s/virtual_size",
                             name)) {
        read_resolution(line, &adapter);
    }
    adapter.bits =
        (uint32_t)etwas_inventory_number(inventory, "sys/class/graphics/%s/bits_per_pixel", name);
    (void)etwas_inventory_line(inventory, adapter.name, sizeof adapter.name,
                               "sys/class/graphics/%s/name", name);
    (void)snprintf(adapter.device, sizeof adapter.device, "%s", name);
    video_emit_adapter(inventory, &adapter);
}

void etwas_inventory_video(struct etwas_inventory *inventory)
{
    uint32_t cards = 0;

    etwas_inventory_each(inventory, emit_card, &cards, "sys/class/drm");
    if (cards == 0) {
        etwas_inventory_each(inventory, emit_frame_buffer, NULL, "sys/class/graphics");
    }
}
