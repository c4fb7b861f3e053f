/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a server says of its tables, and of whether all is there, as any server may say it: u8, how
 * many columns of tables; of each u8, which table, then its name and its type, each u8 bytes long;
 * then the fields of rows of the proof, likewise. Statements are made of the one and texts of the
 * other, which steer no terminal.
 */
#include "ship/schema/ddl.h"
#include "ship/state/prove.h"
#include "ship/wire/send.h"

#include <string.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is written goes nowhere, once it has been looked at. */
static struct etwas_output *nowhere(void)
{
    static struct etwas_output output;

    return etwas_output_anew(&output);
}

static void know_tables(struct input *input)
{
    struct etwas_ship_known_tables known = {.own = {{0}}};
    const struct etwas_ship_ddl ddl = {
        .database = "etwas", .table = "event", .major = 26, .known = &known};
    struct etwas_output *output = nowhere();

    for (uint8_t left = take_u8(input); left != 0; left--) {
        enum etwas_ship_table table = (enum etwas_ship_table)(take_u8(input) % ETWAS_SHIP_TABLES);
        uint16_t name_bytes;
        uint16_t type_bytes;
        char *name = take_bytes(input, take_u8(input), &name_bytes);
        char *type = take_bytes(input, take_u8(input), &type_bytes);

        etwas_ship_know_column(&known.own[table], table, name, name_bytes, type, type_bytes);
        free(name);
        free(type);
    }
    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        MUST(memchr(known.own[i].foreign_type, '\0', sizeof known.own[i].foreign_type) != NULL);
        (void)etwas_ship_missing_column(&known.own[i], (enum etwas_ship_table)i);
        MUST((known.own[i].foreign == 0) ==
             (etwas_ship_foreign_column(&known.own[i], (enum etwas_ship_table)i) == NULL));
    }
    etwas_ship_ddl_write(output, &ddl);
    MUST(output->error == 0);
}

/* A field has a 0 behind it, as those have that etwas_ship_ask gives. */
static char *take_field(struct input *input, struct etwas_ship_field *field)
{
    uint16_t bytes;
    char *text = take_bytes(input, take_u8(input), &bytes);
    char *field_text = malloc(bytes + 1u);

    MUST(field_text != NULL);
    memcpy(field_text, text, bytes);
    field_text[bytes] = '\0';
    free(text);
    *field = (struct etwas_ship_field){.text = field_text, .bytes = bytes};
    return field_text;
}

static void take_proofs(struct input *input)
{
    struct etwas_ship_proofs proofs = {.count = 0};
    struct etwas_ship_field fields[ETWAS_SHIP_PROOF_FIELDS];
    char *texts[ETWAS_SHIP_PROOF_FIELDS];
    struct etwas_output *output;

    while (input->left != 0 && proofs.wrong == NULL && proofs.count < 100) {
        for (uint32_t i = 0; i < ETWAS_SHIP_PROOF_FIELDS; i++) {
            texts[i] = take_field(input, &fields[i]);
        }
        (void)etwas_ship_proof_row(&proofs, fields);
        for (uint32_t i = 0; i < ETWAS_SHIP_PROOF_FIELDS; i++) {
            free(texts[i]);
        }
    }
    output = nowhere();
    etwas_ship_proofs_join(&proofs);
    etwas_ship_proofs_print(output, &proofs);
    MUST(memchr(output->bytes, '\x1b', output->used_bytes) == NULL);
    etwas_ship_proofs_print_json(output, &proofs);
    MUST(memchr(output->bytes, '\x1b', output->used_bytes) == NULL);
    MUST(output->error == 0);
    etwas_ship_proofs_free(&proofs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};

    know_tables(&input);
    take_proofs(&input);
    return 0;
}
