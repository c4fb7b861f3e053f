/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "convert/ctf/member_names.h"

#include "math/array.h"

static const char length_suffix[] = "_length";

static bool is_name_character(char character)
{
    return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
           (character >= 'a' && character <= 'z');
}

/* Returns whether `_` before the name makes it a word of the language. */
static bool is_reserved(const char *name)
{
    return strcmp(name, "Bool") == 0 || strcmp(name, "Complex") == 0 ||
           strcmp(name, "Imaginary") == 0;
}

static void put_text(struct etwas_bytes *texts, const char *name)
{
    etwas_bytes_put(texts, "__", is_reserved(name) ? 2 : 1);
    for (const char *at = name; *at != '\0'; at++) {
        etwas_bytes_put_u8(texts, is_name_character(*at) ? (uint8_t)*at : '_');
    }
    if (name[0] == '\0') {
        etwas_bytes_put(texts, "nameless", strlen("nameless"));
    }
}

void etwas_ctf_names_add(struct etwas_ctf_names *names, const char *name, bool is_counted)
{
    if (!etwas_array_reserve(&names->at, &names->capacity, names->count + 1, sizeof *names->at)) {
        names->out_of_memory = true;
        return;
    }
    names->at[names->count++] = names->texts.used;
    put_text(&names->texts, name);
    etwas_bytes_put_u8(&names->texts, 0);
    if (is_counted) {
        put_text(&names->texts, name);
        etwas_bytes_put(&names->texts, length_suffix, sizeof length_suffix);
    }
    names->out_of_memory |= names->texts.failed;
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void etwas_ctf_names_settle(struct etwas_ctf_names *names)
{
    const char **sorted = calloc(2 * (size_t)names->count + 1, sizeof *sorted);
    const char *texts = (const char *)names->texts.data; /* NULL: there are no names */
    size_t count = 0;

    if (sorted == NULL || names->out_of_memory) {
        names->out_of_memory = true;
        free(sorted);
        return;
    }
    for (size_t at = 0; at < names->texts.used; at += strlen(&texts[at]) + 1) {
        sorted[count++] = &texts[at];
    }
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 1; i < count; i++) {
        names->is_numbered |= strcmp(sorted[i - 1], sorted[i]) == 0;
    }
    free(sorted);
}

/* Numbered member names end in a digit, and names of lengths do not, so no two are the same. */
void etwas_ctf_names_put(struct etwas_output *output, const struct etwas_ctf_names *names,
                         uint32_t member, bool of_length)
{
    etwas_output_text(output, (const char *)names->texts.data + names->at[member]);
    if (names->is_numbered) {
        etwas_output_char(output, '_');
        etwas_output_unsigned(output, (uint64_t)member + 1);
    }
    etwas_output_text(output, of_length ? length_suffix : "");
}

void etwas_ctf_names_free(struct etwas_ctf_names *names)
{
    etwas_bytes_free(&names->texts);
    free(names->at);
    *names = (struct etwas_ctf_names){0};
}
