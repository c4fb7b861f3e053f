/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_COMMANDS_H
#define ETWAS_TOOLS_COMMANDS_H

/*
 * The commands of `etwas`, and what it exits with.
 */

/*
 * Documented in --help. Where several apply, the first of output, open, damaged, unproved counts.
 */
enum etwas_exit {
    ETWAS_EXIT_FINE = 0,
    ETWAS_EXIT_NO = 1,    /* done, and the answer is no */
    ETWAS_EXIT_USAGE = 1, /* the command line is wrong, or names what is not there */
    /*
     * A file could not be opened, is not a trace, or could not be processed; or the clocks, or a
     * session.
     */
    ETWAS_EXIT_OPEN = 2,
    ETWAS_EXIT_DAMAGED = 3,  /* a file is damaged; what could be read was shown */
    ETWAS_EXIT_OUTPUT = 4,   /* the output could not be written */
    ETWAS_EXIT_UNPROVED = 5, /* a session's files do not have what they should, or do not say */
    ETWAS_EXIT_DIFFERS = 6,  /* a class differs between two sides */
    ETWAS_EXIT_UNSENT = 7,   /* it was ended before all events had arrived */
};

/* argv[0] is the command's own name. All return what the program exits with. */
int etwas_command_dump(int argc, char **argv);
int etwas_command_stat(int argc, char **argv);
int etwas_command_schema(int argc, char **argv);
int etwas_command_spans(int argc, char **argv);
int etwas_command_report(int argc, char **argv);
int etwas_command_convert(int argc, char **argv);
int etwas_command_diff(int argc, char **argv);
int etwas_command_why(int argc, char **argv);
int etwas_command_advise(int argc, char **argv);
int etwas_command_recover(int argc, char **argv);
int etwas_command_record(int argc, char **argv);
int etwas_command_clocks(int argc, char **argv);
int etwas_command_ps(int argc, char **argv);
int etwas_command_start(int argc, char **argv);
int etwas_command_stop(int argc, char **argv);
int etwas_command_query(int argc, char **argv);
int etwas_command_tail(int argc, char **argv);
int etwas_command_update(int argc, char **argv);
int etwas_command_flush(int argc, char **argv);
int etwas_command_snapshot(int argc, char **argv);
int etwas_command_enable(int argc, char **argv);
int etwas_command_disable(int argc, char **argv);
int etwas_command_autologger(int argc, char **argv);
int etwas_command_ship(int argc, char **argv);

/*
 * Prints the paragraphs of a --help, NULL behind the last one, to standard output; returns what the
 * program exits with. C promises no more than 4,095 characters of one string literal.
 */
int etwas_command_help(const char *const *paragraphs);

/*
 * After a message of getopt_long: points to the help of the command. Returns
 * ETWAS_EXIT_USAGE.
 */
int etwas_command_misused(const char *command);

#endif
