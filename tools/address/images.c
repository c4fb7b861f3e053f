/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads Image events and the build-id events that belong to them. The system logger writes a build
 * id before its image; other sessions write it after the image.
 */

#include "address/images.h"

#include "address/symbols.h"
#include "event/names.h"
#include "math/array.h"
#include "math/hash.h"

#include <stdlib.h>
#include <string.h>

/* Types of the Image class. */
enum {
    UNLOADED = 2,
    THERE = 3, /* was mapped when the trace began */
    LAST = 4,  /* was mapped when the trace ended */
    LOADED = 10,
    DEBUG_ID = 36,
};

enum {
    IMAGE_VERSION_OF_FILES = 3, /* earlier versions have addresses of the file's symbols */
    MOST_LOOKED_AT = 4096,      /* limit of images searched backwards from an address */
};

/* The fields of an Image or build-id event. */
struct told {
    uint64_t base;
    uint64_t bytes;
    uint64_t first;
    uint32_t process;
    char path[ETWAS_IMAGES_PATH_BYTES];
};

static bool read_event(struct told *told, etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const etwas_schema *schema;
    etwas_number number;
    etwas_fields fields;
    etwas_value value;
    bool has_base = false;

    *told = (struct told){.path = ""};
    if (etwas_decoder_schema(decoder, record, &schema) != ERROR_SUCCESS) {
        return false;
    }
    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        const char *name = value.token == ETWAS_TOKEN_VALUE ? value.field->name : "";

        if (strcmp(name, "FileName") == 0 || strcmp(name, "PdbFileName") == 0) {
            (void)etwas_value_text(&value, told->path, sizeof told->path);
        } else if (*name == 0 || etwas_value_number(&value, &number) == ETWAS_VALUE_TEXT) {
            continue;
        } else if (strcmp(name, "ImageBase") == 0) {
            told->base = number.u;
            has_base = true;
        } else if (strcmp(name, "ImageSize") == 0) {
            told->bytes = number.u;
        } else if (strcmp(name, "ProcessId") == 0) {
            told->process = (uint32_t)number.u;
        } else if (strcmp(name, "DefaultBase") == 0) {
            told->first = number.u;
        }
    }
    return has_base;
}

/* ---- files ----------------------------------------------------------------------------------- */

static uint64_t hash_file(const struct etwas_image_build *file)
{
    uint64_t hash = etwas_hash(file->build_id_bytes, file->path, strlen(file->path));

    return etwas_hash(hash, file->build_id, file->build_id_bytes);
}

static bool is_same(const struct etwas_image_build *one, const struct etwas_image_build *other)
{
    return one->build_id_bytes == other->build_id_bytes &&
           memcmp(one->build_id, other->build_id, one->build_id_bytes) == 0 &&
           strcmp(one->path, other->path) == 0;
}

/* Returns the number of a file, from 1; 0 if it is new. */
static uint32_t find_file(const struct etwas_images *images, const struct etwas_image_build *file,
                          uint64_t hash)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&images->file_places, hash, &place);

    while (number != 0 && !is_same(&images->files[number - 1], file)) {
        number = etwas_hash_index_next(&images->file_places, &place);
    }
    return number;
}

/*
 * Returns a file's number, from 1, after adding it if it is new; 0 if there is no room. Copies the
 * path.
 */
static uint32_t file_of(struct etwas_images *images, const struct etwas_image_build *wanted)
{
    uint64_t hash = hash_file(wanted);
    uint32_t number = find_file(images, wanted, hash);
    char *path;

    if (number != 0) {
        return number;
    }
    number = images->file_count + 1;
    path = number <= ETWAS_IMAGES_FILES ? strdup(wanted->path) : NULL;
    if (path == NULL) {
        images->left_out++;
        return 0;
    }
    if (!etwas_array_reserve(&images->files, &images->file_capacity, number,
                             sizeof *images->files) ||
        !etwas_hash_index_add(&images->file_places, hash, number)) {
        images->out_of_memory = true;
        free(path);
        return 0;
    }
    images->files[images->file_count] = *wanted;
    images->files[images->file_count++].path = path;
    return number;
}

/* ---- adding records -------------------------------------------------------------------------- */

static uint32_t digit_of(char character)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = character != 0 ? strchr(digits, character) : NULL;

    return found != NULL ? (uint32_t)(found - digits) : UINT32_MAX;
}

/*
 * Reads the build id of ".build-id/ab/cdef….debug". Returns its length in bytes; 0 if there is
 * none.
 */
static uint32_t read_build_id(const char *name, uint8_t build_id[ETWAS_IMAGES_BUILD_ID_BYTES])
{
    static const char first[] = ".build-id/";
    uint32_t bytes = 0;

    if (strncmp(name, first, sizeof first - 1) != 0) {
        return 0;
    }
    for (name += sizeof first - 1; bytes < ETWAS_IMAGES_BUILD_ID_BYTES; bytes++) {
        uint32_t high = digit_of(name[0]);
        uint32_t low = high != UINT32_MAX ? digit_of(name[1]) : UINT32_MAX;

        if (low == UINT32_MAX) {
            break;
        }
        build_id[bytes] = (uint8_t)(high << 4 | low);
        name += 2;
        name += bytes == 0 && *name == '/';
    }
    return strcmp(name, ".debug") == 0 ? bytes : 0;
}

static bool reserve_image(struct etwas_images *images)
{
    bool has_room = etwas_array_reserve(&images->entries, &images->capacity, images->count + 1,
                                        sizeof *images->entries);

    images->out_of_memory |= !has_room;
    return has_room;
}

static void take_image(struct etwas_images *images, const struct told *told,
                       const EVENT_RECORD *record)
{
    const EVENT_DESCRIPTOR *descriptor = &record->EventHeader.EventDescriptor;
    bool is_of_files = descriptor->Version >= IMAGE_VERSION_OF_FILES;
    struct etwas_image_build file = {.path = (char *)(uintptr_t)told->path};
    uint32_t number;

    if (images->build_process == told->process && images->build_base == told->base) {
        file.build_id_bytes = images->build_id_bytes;
        memcpy(file.build_id, images->build_id, sizeof file.build_id);
    }
    images->build_id_bytes = 0;
    if (told->bytes == 0 || told->base > UINT64_MAX - told->bytes ||
        images->count == ETWAS_IMAGES || !reserve_image(images) ||
        (number = file_of(images, &file)) == 0) {
        images->left_out += images->count == ETWAS_IMAGES;
        return;
    }
    images->entries[images->count] = (struct etwas_image){
        .base = told->base,
        .bytes = told->bytes,
        .first = told->path[0] == '/' ? told->first : 0, /* Windows: the preferred base */
        .from = record->EventHeader.TimeStamp.QuadPart,
        .to = INT64_MAX,
        .kind = is_of_files ? ETWAS_IMAGE_OF_FILE : ETWAS_IMAGE_OF_LINKER,
        .process = told->process,
        .file = number - 1,
        .order = images->count,
        .type = descriptor->Opcode,
        .may_be_old = !is_of_files || descriptor->Opcode == THERE,
    };
    images->count++;
    images->is_sorted = false;
}

/*
 * Stores a build id. It belongs to the image before it, if the linker reported that one; otherwise
 * to the image that follows.
 */
static void take_build(struct etwas_images *images, const struct told *told)
{
    struct etwas_image *last = images->count > 0 ? &images->entries[images->count - 1] : NULL;
    struct etwas_image_build file = {.path = NULL};
    uint32_t number;

    images->build_base = told->base;
    images->build_process = told->process;
    images->build_id_bytes = read_build_id(told->path, images->build_id);
    if (last == NULL || last->kind != ETWAS_IMAGE_OF_LINKER || last->base != told->base ||
        last->process != told->process || images->build_id_bytes == 0) {
        return;
    }
    file.path = images->files[last->file].path;
    file.build_id_bytes = images->build_id_bytes;
    memcpy(file.build_id, images->build_id, sizeof file.build_id);
    number = file_of(images, &file);
    last->file = number != 0 ? number - 1 : last->file;
    images->build_id_bytes = 0;
}

void etwas_images_add_record(struct etwas_images *images, etwas_decoder *decoder,
                             const EVENT_RECORD *record)
{
    struct told told;
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    bool is_build = memcmp(&record->EventHeader.ProviderId, &etwas_names_build_class,
                           sizeof etwas_names_build_class) == 0;

    if (is_build ? type != DEBUG_ID : (type < UNLOADED || type > LAST) && type != LOADED) {
        return;
    }
    if (!read_event(&told, decoder, record)) {
        return;
    }
    if (is_build) {
        take_build(images, &told);
    } else {
        take_image(images, &told, record);
    }
}

/* ---- mapping intervals ----------------------------------------------------------------------- */

static int compare_images(const void *left, const void *right)
{
    const struct etwas_image *one = left;
    const struct etwas_image *other = right;

    if (one->process != other->process) {
        return one->process < other->process ? -1 : 1;
    }
    if (one->base != other->base) {
        return one->base < other->base ? -1 : 1;
    }
    if (one->from != other->from) {
        return one->from < other->from ? -1 : 1;
    }
    return one->order < other->order ? -1 : one->order > other->order;
}

/*
 * Applies the next event at a base address. Loading and unloading end the image before it. Returns
 * the image that is mapped there now, or NULL.
 */
static struct etwas_image *follow(struct etwas_image *there, struct etwas_image *event)
{
    int64_t time = event->from;

    if (event->type != UNLOADED && event->type != LAST) {
        if (there != NULL) {
            there->to = time;
        }
        return event;
    }
    if (there != NULL) {
        there->to = event->type == UNLOADED ? time : there->to;
        event->to = INT64_MIN; /* makes the interval of this entry empty */
        return event->type == UNLOADED ? NULL : there;
    }
    /* The trace has no event of the mapping itself. */
    event->from = INT64_MIN;
    event->to = event->type == UNLOADED ? time : INT64_MAX;
    return event->type == UNLOADED ? NULL : event;
}

static void sort(struct etwas_images *images)
{
    struct etwas_image *there = NULL;

    if (images->count > 0) {
        qsort(images->entries, images->count, sizeof *images->entries, compare_images);
    }
    for (uint32_t i = 0; i < images->count; i++) {
        struct etwas_image *event = &images->entries[i];

        if (i == 0 || event->process != event[-1].process || event->base != event[-1].base) {
            there = NULL;
        }
        there = follow(there, event);
    }
    images->is_sorted = true;
}

/* ---- finding --------------------------------------------------------------------------------- */

/*
 * Returns the number of entries up to the last one of the process that begins at or before the
 * address.
 */
static uint32_t count_before(const struct etwas_images *images, uint32_t process, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = images->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct etwas_image *image = &images->entries[middle];

        if (image->process < process || (image->process == process && image->base <= address)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct etwas_image *etwas_images_find(struct etwas_images *images, uint32_t process,
                                            int64_t time, uint64_t address)
{
    const struct etwas_image *found = NULL;
    const struct etwas_image *later = NULL; /* the first image that was mapped later */
    bool has_earlier = false;
    uint32_t at;

    if (!images->is_sorted) {
        sort(images);
    }
    at = count_before(images, process, address);
    for (uint32_t i = 0; at-- > 0 && i < MOST_LOOKED_AT; i++) {
        const struct etwas_image *image = &images->entries[at];

        if (image->process != process) {
            break;
        }
        if (address - image->base >= image->bytes || image->to <= image->from) {
            continue;
        }
        if (image->from <= time && time < image->to) {
            found = found == NULL || found->from < image->from ? image : found;
        } else if (image->from > time) {
            later = later == NULL || image->from < later->from ? image : later;
        } else {
            has_earlier = true;
        }
    }
    return found == NULL && !has_earlier && later != NULL && later->may_be_old ? later : found;
}

uint32_t etwas_images_first(struct etwas_images *images, uint32_t process)
{
    if (!images->is_sorted) {
        sort(images);
    }
    return process == 0 ? 0 : count_before(images, process - 1, UINT64_MAX);
}

struct etwas_symbols *etwas_images_symbols(struct etwas_image_build *file)
{
    if (!file->is_asked) {
        file->is_asked = true;
        file->symbols = etwas_symbols_open(file->path, file->build_id, file->build_id_bytes,
                                           &file->has_changed);
    }
    return file->symbols;
}

void etwas_images_free(struct etwas_images *images)
{
    for (uint32_t i = 0; i < images->file_count; i++) {
        etwas_symbols_close(images->files[i].symbols);
        free(images->files[i].path);
    }
    free(images->entries);
    free(images->files);
    etwas_hash_index_clear(&images->file_places);
    *images = (struct etwas_images){.count = 0};
}
