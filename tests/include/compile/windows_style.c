/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program as it is written for Windows, with bare header names: it starts a session, registers a
 * provider, logs, stops and reads the file. T("...") stands for TEXT("..."), so that the test may
 * compile it with UNICODE and without. Compiles as C and as C++.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wmistr.h>

#include <evntrace.h>

#include <evntcons.h>

#ifdef UNICODE
#define T(text) ETWAS_TEXT(text)
#else
#define T(text) text
#endif

#ifdef __cplusplus
#define REFERENCE(guid) guid
#else
#define REFERENCE(guid) &guid
#endif

#define LOGSESSION_NAME T("My session")
#define LOGFILE_PATH T("session.etl")

DEFINE_GUID(ProviderGuid, 0x11111111, 0x2222, 0x3333, 0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55,
            0x55);
DEFINE_GUID(CategoryGuid, 0x11111112, 0x2222, 0x3333, 0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55,
            0x55);

typedef struct _MY_EVENT {
    EVENT_INSTANCE_HEADER Header;
    MOF_FIELD Data[MAX_MOF_FIELDS];
} MY_EVENT, *PMY_EVENT;

static TRACEHANDLE LoggerHandle = 0;
static UCHAR EnableLevel = 0;
static ULONG EnableFlags = 0;

static ULONG WINAPI ControlCallback(WMIDPREQUESTCODE RequestCode, PVOID Context, ULONG *Reserved,
                                    PVOID Header)
{
    ULONG status = ERROR_SUCCESS;
    TRACEHANDLE handle;
    (void)Context;
    (void)Reserved;
    switch (RequestCode) {
    case WMI_ENABLE_EVENTS:
        SetLastError(0);
        handle = GetTraceLoggerHandle(Header);
        if (INVALID_HANDLE_VALUE == (HANDLE)handle) {
            status = GetLastError();
            break;
        }
        LoggerHandle = handle;
        EnableLevel = GetTraceEnableLevel(handle);
        EnableFlags = GetTraceEnableFlags(handle);
        break;
    case WMI_DISABLE_EVENTS:
        LoggerHandle = 0;
        break;
    default:
        status = ERROR_INVALID_PARAMETER;
        break;
    }
    return status;
}

static ULONG LogOne(HANDLE RegHandle)
{
    MY_EVENT event;
    EVENT_INSTANCE_INFO info;
    ULONG cost = 32;
    WCHAR title[] = ETWAS_TEXT("title");

    ULONG status = CreateTraceInstanceId(RegHandle, &info);
    if (ERROR_SUCCESS != status) {
        return status;
    }
    memset(&event, 0, sizeof(event));
    event.Header.Size = (USHORT)(sizeof(EVENT_INSTANCE_HEADER) + 2 * sizeof(MOF_FIELD));
    event.Header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    event.Header.Class.Type = EVENT_TRACE_TYPE_START;
    event.Header.Class.Level = TRACE_LEVEL_INFORMATION;
    event.Header.RegHandle = (ULONGLONG)(ULONG_PTR)RegHandle;
    DEFINE_TRACE_MOF_FIELD(&event.Data[0], &cost, sizeof(cost), ETW_UINT32_TYPE_VALUE);
    event.Data[1].DataPtr = (ULONG64)(ULONG_PTR)title;
    event.Data[1].Length = (ULONG)sizeof(title);
    return TraceEventInstance(LoggerHandle, &event.Header, &info, NULL);
}

/* What a message compiler's macros become: the list ends with a NULL alone. */
static ULONG __cdecl LogMessage(LPCGUID MessageGuid, ULONG MessageNumber, ...)
{
    ULONG flags = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP;
    ULONG size = 32;
    ULONG status =
        TraceMessage(LoggerHandle, flags | TRACE_MESSAGE_SYSTEMINFO, MessageGuid,
                     (USHORT)MessageNumber, &size, sizeof(size), "text", (SIZE_T)5, NULL);
    if (ERROR_SUCCESS == status) {
        va_list arguments;
        va_start(arguments, MessageNumber);
        status = TraceMessageVa(LoggerHandle, flags, MessageGuid, (USHORT)MessageNumber, arguments);
        va_end(arguments);
    }
    return status;
}

static ULONG EnableForOneProcess(TRACEHANDLE Session, ULONG ProcessId)
{
    ENABLE_TRACE_PARAMETERS parameters;
    EVENT_FILTER_DESCRIPTOR filter;

    memset(&parameters, 0, sizeof(parameters));
    filter.Ptr = (ULONGLONG)(ULONG_PTR)&ProcessId;
    filter.Size = sizeof(ProcessId);
    filter.Type = EVENT_FILTER_TYPE_PID;
    parameters.Version = ENABLE_TRACE_PARAMETERS_VERSION_2;
    parameters.EnableFilterDesc = &filter;
    parameters.FilterDescCount = 1;
    return EnableTraceEx2(Session, &ProviderGuid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                          TRACE_LEVEL_INFORMATION, 0, 0, INFINITE, &parameters);
}

static ULONG CountEnablements(GUID Provider)
{
    ULONG count = 0;
    ULONG size = 0;
    PTRACE_GUID_INFO info;
    PTRACE_PROVIDER_INSTANCE_INFO instance;

    if (ERROR_INSUFFICIENT_BUFFER !=
        EnumerateTraceGuidsEx(TraceGuidQueryInfo, &Provider, sizeof(GUID), NULL, 0, &size)) {
        return 0;
    }
    info = (PTRACE_GUID_INFO)malloc(size);
    if (NULL != info && ERROR_SUCCESS == EnumerateTraceGuidsEx(TraceGuidQueryInfo, &Provider,
                                                               sizeof(GUID), info, size, &size)) {
        instance = (PTRACE_PROVIDER_INSTANCE_INFO)((PBYTE)info + sizeof(TRACE_GUID_INFO));
        for (ULONG index = 0; index < info->InstanceCount; index++) {
            count += instance->EnableCount;
            instance = (PTRACE_PROVIDER_INSTANCE_INFO)((PBYTE)instance + instance->NextOffset);
        }
    }
    free(info);
    return count;
}

static VOID WINAPI EventCallback(PEVENT_RECORD Record)
{
    LARGE_INTEGER stamp = Record->EventHeader.TimeStamp;
    if (IsEqualGUID(REFERENCE(Record->EventHeader.ProviderId), REFERENCE(EventTraceGuid)) &&
        Record->EventHeader.EventDescriptor.Opcode == EVENT_TRACE_TYPE_INFO) {
        return;
    }
    printf("%llu %u %u\n", (unsigned long long)stamp.QuadPart,
           (unsigned)Record->BufferContext.ProcessorNumber, (unsigned)Record->UserDataLength);
}

static ULONG WINAPI BufferCallback(PEVENT_TRACE_LOGFILE Buffer)
{
    return Buffer->LogfileHeader.PointerSize == 8 ? TRUE : FALSE;
}

int main(void)
{
    TRACEHANDLE session = 0;
    TRACEHANDLE registration = 0;
    TRACEHANDLE trace = INVALID_PROCESSTRACE_HANDLE;
    TRACE_GUID_REGISTRATION classes[] = {{&CategoryGuid, NULL}};
    EVENT_TRACE_LOGFILE file;
    WCHAR path[] = ETWAS_TEXT("session.etl");
    char path8[] = "session.etl";
    ULONG size =
        (ULONG)(sizeof(EVENT_TRACE_PROPERTIES) + sizeof(LOGFILE_PATH) + sizeof(LOGSESSION_NAME));
    PEVENT_TRACE_PROPERTIES properties = (PEVENT_TRACE_PROPERTIES)malloc(size);
    if (NULL == properties) {
        return EXIT_FAILURE;
    }

    memset(properties, 0, size);
    properties->Wnode.BufferSize = size;
    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    properties->Wnode.ClientContext = 1;
    properties->Wnode.Guid = ProviderGuid;
    properties->LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    properties->MaximumFileSize = 1;
    properties->LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
    properties->LogFileNameOffset =
        (ULONG)(sizeof(EVENT_TRACE_PROPERTIES) + sizeof(LOGSESSION_NAME));
    memcpy((LPBYTE)properties + properties->LogFileNameOffset, LOGFILE_PATH, sizeof(LOGFILE_PATH));

    ULONG status = StartTrace(&session, LOGSESSION_NAME, properties);
    if (ERROR_SUCCESS == status && session == properties->Wnode.HistoricalContext) {
        status = RegisterTraceGuids(ControlCallback, NULL, &ProviderGuid, 1, classes, NULL, NULL,
                                    &registration);
    }
    if (ERROR_SUCCESS == status) {
        status = EnableTrace(TRUE, 0, TRACE_LEVEL_INFORMATION, &ProviderGuid, session);
    }
    if (ERROR_SUCCESS == status && 1 == CountEnablements(ProviderGuid)) {
        status = EnableForOneProcess(session, 4711);
    }
    if (ERROR_SUCCESS == status && EnableLevel >= TRACE_LEVEL_INFORMATION && EnableFlags == 0) {
        status = LogOne(classes[0].RegHandle);
    }
    if (ERROR_SUCCESS == status) {
        status = LogMessage(&CategoryGuid, 7, &session, sizeof(session), NULL, (SIZE_T)0);
    }
    UnregisterTraceGuids(registration);
    ControlTrace(session, LOGSESSION_NAME, properties, EVENT_TRACE_CONTROL_STOP);
    free(properties);

    memset(&file, 0, sizeof(file));
#ifdef UNICODE
    file.LogFileName = path;
#else
    file.LogFileName = path8;
#endif
    (void)path;
    (void)path8;
    file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    file.EventRecordCallback = EventCallback;
    file.BufferCallback = BufferCallback;
    trace = OpenTrace(&file);
    if (INVALID_PROCESSTRACE_HANDLE == trace) {
        return EXIT_FAILURE;
    }
    status = ProcessTrace(&trace, 1, NULL, NULL);
    CloseTrace(trace);
    return ERROR_SUCCESS == status ? EXIT_SUCCESS : EXIT_FAILURE;
}
