/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What /proc shows of processes that may be anybody's: a text read as stat, as status, as a command
 * line, and line by line as maps, of which images are made.
 */
#include <stdlib.h>
#include <string.h>

#include "system/names/process_facts.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    MUST(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

static void read_facts(const uint8_t *data, size_t size)
{
    static struct etwas_process_facts facts;
    char *text = text_of(data, size);
    uint32_t user;

    if (etwas_process_parse_stat(text, &facts)) {
        MUST(memchr(facts.name, 0, sizeof facts.name) != NULL);
    }
    (void)etwas_process_parse_user(text, &user);
    free(text);
    text = text_of(data, size);
    etwas_process_join_arguments(text, size);
    MUST(memchr(text, 0, size + 1) != NULL);
    free(text);
}

/* Each image has a file whose references are right; addresses are in order. */
static void look_at_image(void *context, bool is_loaded, const struct etwas_file_image *image)
{
    uint64_t *emitted = context;

    (void)is_loaded;
    MUST(image->file != NULL && image->file->references > 0 && strlen(image->file->path) > 0);
    MUST(image->begin <= image->end);
    (*emitted)++;
}

static void read_maps(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    struct etwas_image_list list = {0};
    struct etwas_image_list copy = {0};
    struct etwas_id_map files;
    uint64_t emitted = 0;
    char *rest = text;
    char *line;

    MUST(etwas_id_map_init(&files));
    while ((line = strsep(&rest, "\n")) != NULL) {
        struct etwas_mapping mapping;

        (void)etwas_process_parse_device(line);
        if (etwas_process_parse_mapping(line, &mapping)) {
            etwas_image_list_add(&list, &files, &mapping, look_at_image, &emitted);
        }
    }
    MUST(list.count <= ETWAS_IMAGE_LIST_MOST && emitted >= list.count);
    etwas_image_list_copy(&copy, &list);
    etwas_image_list_clear(&list, &files);
    etwas_image_list_clear(&copy, &files);
    MUST(files.count == 0);
    etwas_id_map_free(&files);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_facts(data, size);
    read_maps(data, size);
    return 0;
}
