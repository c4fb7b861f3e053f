/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Services that run: systemd's units, by the control groups that it makes for them. Without systemd
 * there are none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/inventory/inventory_internal.h"

enum {
    STATE_RUNNING = 4,
    TEXT_BYTES = 4096,
    DEEPEST_SLICE = 4,
    DECIMAL = 10,
};

/* A slice, which may be within another one. */
struct slice {
    char path[ETWAS_INVENTORY_PATH_BYTES / 2];
    uint32_t depth;
    uint32_t services; /* found so far */
};

struct service {
    const char *path;
    uint32_t process_id; /* the lowest; 0: none is visible from here */
};

static bool ends_with(const char *text, const char *end)
{
    const size_t bytes = strlen(text);

    return bytes > strlen(end) && strcmp(text + bytes - strlen(end), end) == 0;
}

/* The lowest number is the oldest process, unless numbers have wrapped. */
static void find_process(struct etwas_inventory *inventory, const char *folder,
                         struct service *service)
{
    char text[TEXT_BYTES];
    const char *at = text;
    char *end;

    (void)etwas_inventory_text(inventory, text, sizeof text, "%s/cgroup.procs", folder);
    for (unsigned long id = strtoul(at, &end, DECIMAL); end != at && *end == '\n';
         id = strtoul(at, &end, DECIMAL)) {
        if (id != 0 && (service->process_id == 0 || id < service->process_id)) {
            service->process_id = (uint32_t)id;
        }
        at = end + 1;
    }
}

/* Some services have their processes in groups below their own. */
static void scan_below(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct service *service = context;
    char folder[ETWAS_INVENTORY_PATH_BYTES];

    if (strchr(name, '.') == NULL) { /* a folder, and no file of the group itself */
        (void)snprintf(folder, sizeof folder, "%s/%s", service->path, name);
        find_process(inventory, folder, service);
    }
}

/* Instances of a template, name@instance.service, are described by name@.service. */
static void read_description(struct etwas_inventory *inventory, const char *unit, char *text,
                             size_t size)
{
    static const char *const folders[] = {"etc/systemd/system", "run/systemd/system",
                                          "usr/lib/systemd/system", "lib/systemd/system"};
    const char *at = strchr(unit, '@');
    char file[ETWAS_INVENTORY_LINE_BYTES];
    const char *value;
    size_t length;

    (void)snprintf(file, sizeof file, "%.*s%s", at == NULL ? (int)strlen(unit) : (int)(at - unit),
                   unit, at == NULL ? "" : "@.service");
    for (size_t index = 0; index < sizeof folders / sizeof folders[0]; index++) {
        if (etwas_inventory_text(inventory, text, size, "%s/%s", folders[index], file) &&
            (value = etwas_inventory_value(text, "Description=")) != NULL) {
            length = strcspn(value, "\r\n");
            memmove(text, value, length);
            text[length] = 0;
            return;
        }
    }
    text[0] = 0;
}

static void emit_service(struct etwas_inventory *inventory, const char *unit, const char *path)
{
    struct service service = {.path = path};
    char description[TEXT_BYTES];
    char process[ETWAS_INVENTORY_LINE_BYTES];

    find_process(inventory, path, &service);
    if (service.process_id == 0) {
        etwas_inventory_each(inventory, scan_below, &service, "%s", path);
    }
    if (service.process_id == 0) {
        return;
    }
    read_description(inventory, unit, description, sizeof description);
    (void)etwas_inventory_line(inventory, process, sizeof process, "proc/%u/comm",
                               service.process_id);
    ETWAS_INVENTORY_MAKE(inventory, SERVICE, .ProcessId = service.process_id,
                         .ServiceState = STATE_RUNNING, .ServiceName = unit,
                         .DisplayName = description, .ProcessName = process);
    etwas_inventory_end(inventory);
}

static void read_unit(struct etwas_inventory *inventory, const char *name, void *context)
{
    struct slice *slice = context;
    struct slice below = {.depth = slice->depth + 1};
    int length = snprintf(below.path, sizeof below.path, "%s/%s", slice->path, name);

    if (length < 0 || (size_t)length >= sizeof below.path) {
        return;
    }
    if (ends_with(name, ".service")) {
        slice->services++;
        emit_service(inventory, name, below.path);
    } else if (ends_with(name, ".slice") && below.depth < DEEPEST_SLICE) {
        etwas_inventory_each(inventory, read_unit, &below, "%s", below.path);
        slice->services += below.services;
    }
}

/* Looks for systemd's groups in the folders of cgroup v2 alone, of v2 beside v1, and of v1. */
void etwas_inventory_services(struct etwas_inventory *inventory)
{
    static const char *const folders[] = {"sys/fs/cgroup", "sys/fs/cgroup/unified",
                                          "sys/fs/cgroup/systemd"};
    struct slice slice = {.services = 0};

    for (size_t index = 0; slice.services == 0 && index < sizeof folders / sizeof folders[0];
         index++) {
        (void)snprintf(slice.path, sizeof slice.path, "%s/system.slice", folders[index]);
        etwas_inventory_each(inventory, read_unit, &slice, "%s", slice.path);
    }
}
