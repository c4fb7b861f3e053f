/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/system.h"

#include "event/event.h"

#include <etwas/winerror.h>
#include <inttypes.h>

/* Only etwas, on Linux, writes the protocol of its buffers. */
static bool is_of_linux(const etwas_trace_information *information)
{
    return information->protocol != 0;
}

void etwas_trace_print_system(struct etwas_output *output, const struct etwas_input *input)
{
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;

    if (is_of_linux(&input->information)) {
        etwas_output_text(output, "Linux");
    } else {
        etwas_output_format(output, "%u.%u.%" PRIu32, header->VersionDetail.MajorVersion,
                            header->VersionDetail.MinorVersion, header->ProviderVersion);
    }
}

void etwas_trace_print_header_words(struct etwas_output *output, const struct etwas_input *input,
                                    const EVENT_RECORD *record)
{
    etwas_trace_information information;

    /* input->information is filled only after the last event. */
    if (etwas_event_is_header_class(record) && record->EventHeader.EventDescriptor.Opcode == 0 &&
        etwas_trace_query(input->trace, &information) == ERROR_SUCCESS &&
        is_of_linux(&information)) {
        etwas_output_format(output,
                            " (recorded on Linux, %" PRIu32 " processor%s: the version is for "
                            "readers of Windows, and NumberOfProcessors counts streams)",
                            information.processors, information.processors == 1 ? "" : "s");
    }
}
