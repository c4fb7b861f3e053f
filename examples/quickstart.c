/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Records a thousand orders: cc quickstart.c $(pkg-config --cflags --libs etwas) && ./a.out */

#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <stdio.h>

static const GUID shop_guid = {0x5ab7a3c2, 0x1f0e, 0x4d7b, {154, 49, 110, 2, 212, 140, 119, 16}};
static const GUID order_guid = {0x0f6c2be4, 0x8d53, 0x4a19, {178, 127, 65, 149, 60, 224, 106, 40}};

/* The name of an order and its fields, for readers of the file. */
static const etwas_field_description order_fields[] = {
    {.name = "price", .in_type = TDH_INTYPE_UINT32},
    {.name = "article", .in_type = TDH_INTYPE_ANSISTRING}};
static const etwas_type_description order_types[] = {
    {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = order_fields, .field_count = 2}};
static const etwas_class_description orders = {.guid = &order_guid,
                                               .provider_name = "Shop",
                                               .name = "Order",
                                               .types = order_types,
                                               .type_count = 1};

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "quickstart.etl";
    TRACE_GUID_REGISTRATION order_class = {&order_guid, NULL};
    etwas_session_counts counts;
    TRACEHANDLE provider, session;
    ULONG error =
        RegisterTraceGuids(on_control, NULL, &shop_guid, 1, &order_class, NULL, NULL, &provider);

    error = error == ERROR_SUCCESS ? etwas_describe_class(&orders, NULL) : error;
    error = error == ERROR_SUCCESS ? etwas_start("quickstart", file, NULL, &session) : error;
    if (error != ERROR_SUCCESS) {
        fprintf(stderr, "cannot record to %s: %s\n", file, etwas_error_text(error));
        return 1;
    }
    for (ULONG price = 0; price < 1000; price++) {
        struct {
            EVENT_INSTANCE_HEADER header;
            MOF_FIELD fields[2];
        } event = {.header = {.Size = sizeof event, .RegHandle = (ULONG64)order_class.RegHandle}};
        EVENT_INSTANCE_INFO order;

        CreateTraceInstanceId(order_class.RegHandle, &order);
        event.header.Class.Type = EVENT_TRACE_TYPE_START;
        event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
        DEFINE_TRACE_MOF_FIELD(&event.fields[0], &price, sizeof price, ETW_UINT32_TYPE_VALUE);
        DEFINE_TRACE_MOF_FIELD(&event.fields[1], "tea", sizeof "tea", ETW_ASCIISTRING_TYPE_VALUE);
        TraceEventInstance(session, &event.header, &order, NULL);
    }
    etwas_stop(session, &counts);
    UnregisterTraceGuids(provider);
    printf("%s: %lu events, %lu lost\n", file, counts.recorded, counts.lost);
    return counts.recorded == 1000 ? 0 : 1;
}
