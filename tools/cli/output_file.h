/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_OUTPUT_FILE_H
#define ETWAS_TOOLS_CLI_OUTPUT_FILE_H

/*
 * The output of a command: standard output, or a file or folder that gets its name only when it is
 * whole. Until then it has another name beside that, so that an incomplete output never looks
 * complete. A signal that ends the program removes it.
 */

#include "print/output.h"

struct etwas_output_file {
    const char *command; /* the command, for messages: "etwas convert" */
    const char *path;    /* NULL: standard output */
    char *making;        /* its name until it is whole; NULL: it has none */
    int descriptor;      /* the file's, or the folder's */
    bool is_folder;
    bool force; /* a file that is there is replaced */
};

/* Returns whether the output would replace one of the input files; standard output does not. */
bool etwas_output_file_is_input(const struct etwas_output_file *file, char *const *inputs,
                                uint32_t count);

/*
 * Makes the file or folder under a name of its own beside `path`. A file at `path` stays until it
 * is replaced, which needs `force`; a folder there must be empty. Returns false after a message on
 * standard error.
 */
bool etwas_output_file_open(struct etwas_output_file *file);

/*
 * Gives the output its name. Returns false after a message on standard error; then nothing is left.
 */
bool etwas_output_file_keep(struct etwas_output_file *file);

/* Does the same if `output` could be written to its end. */
bool etwas_output_file_keep_written(struct etwas_output_file *file, struct etwas_output *output);

/* Removes an output that was not kept. Does nothing after etwas_output_file_keep. */
void etwas_output_file_drop(struct etwas_output_file *file);

#endif
