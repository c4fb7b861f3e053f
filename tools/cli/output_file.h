/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_OUTPUT_FILE_H
#define ETWAS_TOOLS_CLI_OUTPUT_FILE_H

/*
 * The output of a command: standard output, or a file or folder that gets its name only when it is
 * complete. Until then it has another name in the same folder, so an incomplete output never looks
 * complete. A signal that ends the program removes it.
 */

#include "print/output.h"

struct etwas_output_file {
    const char *command; /* for messages, such as "etwas convert" */
    const char *path;    /* NULL: standard output */
    char *making;        /* its temporary name; NULL: it has none */
    int descriptor;      /* open file or folder */
    bool is_folder;
    bool force; /* replace an existing file */
};

/* Returns whether the output would replace one of the input files; for standard output false. */
bool etwas_output_file_is_input(const struct etwas_output_file *file, char *const *inputs,
                                uint32_t count);

/*
 * Creates the file or folder under a temporary name beside `path`. An existing file stays until it
 * is replaced, which needs `force`; an existing folder must be empty. Returns false after a message
 * on standard error.
 */
bool etwas_output_file_open(struct etwas_output_file *file);

/*
 * Gives the output its name. Returns false after a message on standard error; then the output was
 * removed.
 */
bool etwas_output_file_keep(struct etwas_output_file *file);

/* Does the same if all of `output` was written. */
bool etwas_output_file_keep_written(struct etwas_output_file *file, struct etwas_output *output);

/* Removes an output that was not kept. Does nothing after etwas_output_file_keep. */
void etwas_output_file_drop(struct etwas_output_file *file);

#endif
