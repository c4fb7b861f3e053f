/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Messages of a file as the independent walker finds them: byte by byte, without our reader.
 */
#ifndef ETWAS_TESTS_PROVIDER_MESSAGE_H
#define ETWAS_TESTS_PROVIDER_MESSAGE_H

#include "session/fixture.h"

/* What is not there is 0. */
struct message {
    uint32_t processor;
    int64_t stamp; /* of a message without one that of a neighbour */
    uint16_t number;
    uint16_t flags; /* as recorded */
    uint32_t sequence;
    char guid[37]; /* in text; a component id is its first 8 digits */
    bool has_ids;
    uint32_t thread;
    uint32_t process;
    uint8_t *data;
    uint32_t bytes;
};

struct messages {
    struct message *items;
    size_t count;
    size_t others; /* events that are no messages */
};

/* Each processor's in their order. Fails the test when the file breaks a rule. */
void walk_messages(const char *path, struct messages *messages);
void free_messages(struct messages *messages);

/* Every sequence number from 1 to `last` once, in whatever order, and no other. */
void expect_numbers(const struct messages *messages, uint32_t last);

#endif
