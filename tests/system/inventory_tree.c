/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "inventory_tree.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "system/inventory/inventory.h"

enum {
    PATH_BYTES = 512,
    HEADER_BYTES = sizeof(struct etwas_etl_system_header),
    GROUP = 0x0B,
    VERSION = 2,
    MODE = 0755,
    OPEN_FOLDERS = 16,
};

struct emitted emitted[TOLD_MOST];
size_t emitted_count;

static char root[PATH_BYTES];
static struct etwas_record_builder record;

/* ---- the tree -------------------------------------------------------------------------------- */

static void forget(void)
{
    while (emitted_count > 0) {
        free(emitted[--emitted_count].payload);
    }
}

int tree_begin(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof root, "/tmp/etwas-inventory-XXXXXX");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

int tree_end(void **state)
{
    (void)state;
    forget();
    return nftw(root, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

const char *tree_root(void)
{
    return root;
}

/* The whole path, with the folders on the way. */
static const char *place(const char *path)
{
    static char full[2 * PATH_BYTES];

    (void)snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        (void)mkdir(full, MODE);
        *slash = '/';
    }
    return full;
}

void tree_file(const char *path, const char *text)
{
    FILE *file = fopen(place(path), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

void tree_folder(const char *path)
{
    assert_int_equal(mkdir(place(path), MODE), 0);
}

void tree_link(const char *path, const char *target)
{
    assert_int_equal(symlink(target, place(path)), 0);
}

void tree_fifo(const char *path)
{
    assert_int_equal(mkfifo(place(path), MODE), 0);
}

void tree_hole(const char *path)
{
    tree_file(path, "7");
    assert_int_equal(truncate(place(path), INT64_C(1) << 40), 0);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void take(struct etwas_emitter *emitter, uint32_t slot,
                 const struct etwas_stamped_record *stamped)
{
    struct etwas_etl_system_header header;
    struct emitted *next = &emitted[emitted_count];

    (void)emitter;
    (void)slot;
    assert_true(emitted_count < TOLD_MOST);
    assert_true(stamped->size >= HEADER_BYTES && stamped->size <= record.room);
    memcpy(&header, stamped->bytes, sizeof header);
    assert_int_equal(header.size, stamped->size);
    assert_int_equal(header.group, GROUP);
    assert_int_equal(header.version, VERSION);
    assert_int_equal(header.process_id, getpid());
    next->type = header.type;
    next->bytes = stamped->size - HEADER_BYTES;
    next->payload = malloc(next->bytes + 1);
    assert_non_null(next->payload);
    memcpy(next->payload, (const uint8_t *)stamped->bytes + HEADER_BYTES, next->bytes);
    emitted_count++;
}

void emit_root(const char *from, uint32_t room)
{
    struct etwas_emitter emitter = {.receive = take};

    forget();
    record.room = room;
    etwas_inventory_emit(from, ETWAS_INVENTORY_ALL, &record, &emitter, NULL);
}

void emit_inventory(void)
{
    emit_root(root, ETWAS_RECORD_MOST_BYTES);
}

size_t count_emitted(uint8_t type)
{
    size_t count = 0;

    for (size_t index = 0; index < emitted_count; index++) {
        count += emitted[index].type == type;
    }
    return count;
}

const struct emitted *only(uint8_t type)
{
    const struct emitted *found = NULL;

    for (size_t index = 0; index < emitted_count; index++) {
        if (emitted[index].type == type) {
            assert_null(found);
            found = &emitted[index];
        }
    }
    assert_non_null(found);
    return found;
}

uint32_t emitted_u16(const struct emitted *from, size_t offset)
{
    uint16_t value;

    assert_true(offset + sizeof value <= from->bytes);
    memcpy(&value, from->payload + offset, sizeof value);
    return value;
}

uint32_t emitted_u32(const struct emitted *from, size_t offset)
{
    uint32_t value;

    assert_true(offset + sizeof value <= from->bytes);
    memcpy(&value, from->payload + offset, sizeof value);
    return value;
}

uint64_t emitted_u64(const struct emitted *from, size_t offset)
{
    uint64_t value;

    assert_true(offset + sizeof value <= from->bytes);
    memcpy(&value, from->payload + offset, sizeof value);
    return value;
}

size_t expect_text(const struct emitted *from, size_t offset, const char *text)
{
    for (;; text++, offset += sizeof(uint16_t)) {
        assert_int_equal(emitted_u16(from, offset), (unsigned char)*text);
        if (*text == 0) {
            return offset + sizeof(uint16_t);
        }
    }
}
