/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes what a session lost, and when. Each interval is a pair of empty packets: the second one
 * counts the events discarded since the first.
 */

#include "convert/ctf/ctf.h"

#include <stdlib.h>

static int by_processor(const void *left, const void *right)
{
    const struct etwas_trace_loss *one = left;
    const struct etwas_trace_loss *other = right;

    if (one->processor != other->processor) {
        return one->processor < other->processor ? -1 : 1;
    }
    return one->from_ns < other->from_ns ? -1 : one->from_ns > other->from_ns;
}

/* Writes the losses of one processor, which are sorted by time. */
static bool put_processor(const struct etwas_ctf_trace *trace,
                          const struct etwas_trace_loss *losses, size_t count)
{
    bool is_known = losses->processor != ETWAS_LOST_ANYWHERE;
    struct etwas_ctf_stream stream = {
        .number = is_known ? ETWAS_CTF_LOST + losses->processor : ETWAS_CTF_LOST_ANYWHERE,
        .has_processor = is_known && trace->has_processors,
    };
    bool is_written;

    for (size_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count || losses[i + 1].from_ns != losses[i].from_ns;

        /* Losses of several causes in one interval are all discarded at its end. */
        if (i == 0 || losses[i - 1].from_ns != losses[i].from_ns) {
            etwas_ctf_mark(trace, &stream, etwas_ctf_since_1970(losses[i].from_ns));
        }
        etwas_ctf_add(&stream.discarded, losses[i].events);
        if (is_last) {
            etwas_ctf_mark(trace, &stream, etwas_ctf_since_1970(losses[i].until_ns));
        }
    }
    is_written = etwas_ctf_finish_stream(trace, &stream);
    etwas_bytes_free(&stream.bytes);
    return is_written;
}

bool etwas_ctf_put_losses(const struct etwas_ctf_trace *trace, struct etwas_trace_losses *losses)
{
    bool is_written = true;
    size_t end;

    if (losses->count != 0) {
        qsort(losses->list, losses->count, sizeof *losses->list, by_processor);
    }
    for (size_t begin = 0; begin < losses->count && is_written; begin = end) {
        end = begin + 1;
        while (end < losses->count &&
               losses->list[end].processor == losses->list[begin].processor) {
            end++;
        }
        is_written = put_processor(trace, &losses->list[begin], end - begin);
    }
    return is_written;
}
