/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Exact counts of the program's calls; the interface is in the header. */

#include "counts.h"

#include <ck_pr.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STRIPES = 64,
    FILE_BYTES = 32768
};

struct heaptrace_counters {
    alignas(64) uint64_t attempted[HEAPTRACE_TYPES];
    uint64_t refused;
    uint64_t done;
};

static struct heaptrace_counters stripes[STRIPES];
static unsigned int next_stripe;

/*
 * A handler that interrupts the choice takes another stripe, and one of the two is kept. Both are
 * added up.
 */
static struct heaptrace_counters *own_stripe(void)
{
    struct heaptrace_counters *counters = heaptrace_thread.counters;

    if (counters == NULL) {
        counters = &stripes[ck_pr_faa_uint(&next_stripe, 1) % STRIPES];
        heaptrace_thread.counters = counters;
    }
    return counters;
}

void heaptrace_count_attempt(uint8_t type)
{
    ck_pr_inc_64(&own_stripe()->attempted[type - HEAPTRACE_FIRST_TYPE]);
}

void heaptrace_count_undo(uint8_t type)
{
    ck_pr_dec_64(&own_stripe()->attempted[type - HEAPTRACE_FIRST_TYPE]);
}

void heaptrace_count_refused(void)
{
    ck_pr_inc_64(&own_stripe()->refused);
}

void heaptrace_count_done(void)
{
    /* Orders the attempt and the logging before `done`: a reader that sees `done` sees them too. */
    ck_pr_fence_atomic();
    ck_pr_inc_64(&own_stripe()->done);
}

void heaptrace_count_reset(void)
{
    memset(stripes, 0, sizeof stripes);
}

void heaptrace_count_read(struct heaptrace_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    for (int stripe = 0; stripe < STRIPES; stripe++) {
        counts->done += ck_pr_load_64(&stripes[stripe].done);
    }
    ck_pr_fence_load();
    for (int stripe = 0; stripe < STRIPES; stripe++) {
        counts->refused += ck_pr_load_64(&stripes[stripe].refused);
        for (int type = 0; type < HEAPTRACE_TYPES; type++) {
            uint64_t attempted = ck_pr_load_64(&stripes[stripe].attempted[type]);

            counts->attempted[type] += attempted;
            counts->attempted_in_all += attempted;
        }
    }
}

struct text {
    char bytes[FILE_BYTES];
    size_t used;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text->bytes + text->used, FILE_BYTES - text->used, format, arguments);
    va_end(arguments);
    /* There is room for the longest path, of which each byte takes at most six here. */
    if (length > 0 && (size_t)length < FILE_BYTES - text->used) {
        text->used += (size_t)length;
    }
}

static void add_string(struct text *text, const char *string)
{
    add(text, "\"");
    for (const char *byte = string; *byte != '\0'; byte++) {
        if (*byte == '"' || *byte == '\\') {
            add(text, "\\%c", *byte);
        } else if ((unsigned char)*byte < 0x20) {
            add(text, "\\u%04x", (unsigned int)*byte);
        } else {
            add(text, "%c", *byte);
        }
    }
    add(text, "\"");
}

static void compose(struct text *text, const char *trace, const struct heaptrace_counts *counts,
                    const etwas_session_counts *session)
{
    static const char *const names[HEAPTRACE_TYPES] = {
        "malloc",        "calloc",   "realloc", "reallocarray", "free",  "posix_memalign",
        "aligned_alloc", "memalign", "valloc",  "pvalloc",      "image",
    };

    add(text, "{\"trace\": ");
    add_string(text, trace);
    add(text, ", \"process\": %ld,\n", (long)getpid());
    add(text, " \"attempted\": %" PRIu64 ",\n", counts->attempted_in_all);
    if (session != NULL) {
        add(text,
            " \"recorded\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"lost_by_session\": %" PRIu64
            ",\n",
            session->recorded, session->lost + counts->refused, session->lost);
    }
    add(text, " \"refused\": %" PRIu64 ", \"under_way\": %" PRIu64 ",\n", counts->refused,
        counts->attempted_in_all - counts->done);
    add(text, " \"functions\": {");
    for (int type = 0; type < HEAPTRACE_TYPES; type++) {
        add(text, "%s\n  \"%s\": {\"type\": %d, \"attempted\": %" PRIu64 "}", type == 0 ? "" : ",",
            names[type], HEAPTRACE_FIRST_TYPE + type, counts->attempted[type]);
    }
    add(text, "\n }}\n");
}

bool heaptrace_counts_write(const char *path, const char *trace,
                            const struct heaptrace_counts *counts,
                            const etwas_session_counts *session)
{
    /*
     * Static, because the stack of the thread that exits may be small; one session ends at a time.
     */
    static struct text text;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    bool written;

    if (file < 0) {
        return false;
    }
    text.used = 0;
    compose(&text, trace, counts, session);
    written = write(file, text.bytes, text.used) == (ssize_t)text.used;
    return close(file) == 0 && written;
}
