/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_OUTPUT_FILE_H
#define ETWAS_TOOLS_CLI_OUTPUT_FILE_H

/*
 * Where the output goes: to standard output, or to a file or folder that appears under its name
 * when it is whole. Until then it has another name beside it, so what is half done never looks
 * done; a signal that ends the program takes it away.
 */

#include "print/output.h"

struct etwas_output_file {
    const char *command; /* whose it is, for messages: "etwas convert" */
    const char *path;    /* NULL: standard output */
    char *making;        /* its name until it is whole; NULL: it has none */
    int descriptor;      /* the file's, or the folder's */
    bool is_folder;
    bool force; /* a file that is there is replaced */
};

/* Whether the output would replace one of the files that are read; without a path it does not. */
bool etwas_output_file_is_input(const struct etwas_output_file *place, char *const *inputs,
                                uint32_t count);

/*
 * Makes a file or folder beside `path`; a file that is there already stays until it is replaced,
 * which has to be wanted; a folder must be empty. False after a message on standard error.
 */
bool etwas_output_file_open(struct etwas_output_file *place);

/* Gives it its name. False after a message on standard error: then nothing is left. */
bool etwas_output_file_keep(struct etwas_output_file *place);

/* The same of what is written to `output`, if that could be written to its end. */
bool etwas_output_file_keep_written(struct etwas_output_file *place, struct etwas_output *output);

/* Takes away what is not kept; does nothing after etwas_output_file_keep. */
void etwas_output_file_drop(struct etwas_output_file *place);

#endif
