/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events of real Windows files, whose values were worked out by hand or by other programs. A file
 * that is not beside the repository is skipped by name. The events of .NET's runtime have no
 * description in their file: a manifest beside this test stands in for the one that it would be.
 */
#include <etwas/evntrace.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shown.h"
#include "support/places.h"

#define ZERO_GUID "{00000000-0000-0000-0000-000000000000}"

struct vector {
    int64_t time_stamp;
    const char *line;
};

#define SOLAR "solar_system/PrimitiveTypesTest string_type="

static const struct vector primitive_types[] = {
    {2603617064262,
     SOLAR "\"Mercury\" boolean_type=false char_type=\"M\" int16_type=-51 int32_type=-102 "
           "uint16_type=51 uint32_type=102 int64_type=18446744073709551412 uint64_type=204 "
           "guid_type={0ad614c4-0ef4-4225-8013-f44f37cb0397} "
           "file_time_type=2021-09-09T14:59:35.7990000 system_time_type=2021-09-09T14:59:35.799"},
    {2603621453799,
     SOLAR "\"Venus\" boolean_type=true char_type=\"V\" int16_type=-95 int32_type=-190 "
           "uint16_type=95 uint32_type=190 int64_type=18446744073709551236 uint64_type=380 "
           "guid_type={e04ff801-9ea3-494f-a10e-8ef833e9099f} "
           "file_time_type=2021-09-09T14:59:36.2390000 system_time_type=2021-09-09T14:59:36.239"},
    {2603625781226,
     SOLAR "\"Earth\" boolean_type=false char_type=\"E\" int16_type=-65 int32_type=-130 "
           "uint16_type=65 uint32_type=130 int64_type=18446744073709551356 uint64_type=260 "
           "guid_type={c7a6c80e-f2a6-4220-ab98-d7c21a58f9fb} "
           "file_time_type=2021-09-09T14:59:36.6710000 system_time_type=2021-09-09T14:59:36.671"},
    {2603629545285,
     SOLAR "\"Mars\" boolean_type=false char_type=\"M\" int16_type=-29 int32_type=-58 "
           "uint16_type=29 uint32_type=58 int64_type=18446744073709551500 uint64_type=116 "
           "guid_type={0a922cee-67c1-4108-b39d-b132e47033c4} "
           "file_time_type=2021-09-09T14:59:37.0480000 system_time_type=2021-09-09T14:59:37.048"},
    {2603633907722,
     SOLAR "\"Jupiter\" boolean_type=true char_type=\"J\" int16_type=-69 int32_type=-138 "
           "uint16_type=69 uint32_type=138 int64_type=18446744073709551340 uint64_type=276 "
           "guid_type={bb11b97b-1110-4eb6-bc33-fd71219d322e} "
           "file_time_type=2021-09-09T14:59:37.4840000 system_time_type=2021-09-09T14:59:37.484"},
};

static const struct vector self_describing[] = {
    {6459804190760, "MySource/TestEvent a={b=\"Hello\" c=\"World!\"}"},
    {6459791009101, "KernelTraceControl/SysConfig/SystemPaths SystemDirectory=\"C:\\WINDOWS"
                    "\\system32\" SystemWindowsDirectory=\"C:\\WINDOWS\\\""},
    {6459791009101, "KernelTraceControl/SysConfig/UnknownVolume "
                    "VolumePath=\"\\Device\\HarddiskVolume5\\\""},
    {6459791009101, "KernelTraceControl/SysConfig/VolumeMapping "
                    "NtPath=\"\\Device\\HarddiskVolume1\\\" DosPath=\"D:\\\""},
    {6459824663701,
     "KernelTraceControl/SysConfig/BuildInfo InstallDate=2021-10-05T00:10:37.0000000 "
     "BuildLab=\"22000.613.amd64fre.co_release.210604-1628\" "
     "ProductName=\"Windows 10 Enterprise\""},
    {6459791009101,
     "MSNT_SystemTrace/EventTrace/PartitionInfoExtension EventVersion=0 Reserved=0 "
     "PartitionType=0 QpcOffsetFromRoot=0 PartitionId={00000000-0000-0000-0000-000000000000} "
     "ParentId={00000000-0000-0000-0000-000000000000}"},
    {6459824663701, "(none)"}, /* type 37 of SysConfig: nobody says what it is */
};

#define BREAK_POINT                                                                                \
    "Microsoft.Windows.Subsystem.LxCore/BreakPoint ErrorLevel=2 instanceId=" ZERO_GUID             \
    " LxPid=-1 LxTid=-1 LxNs=0 ExecutablePath=\"\" Function="

static const struct vector lxcore[] = {
    {111046477804, BREAK_POINT "\"LxpInstanceStart\" Line=2659 "
                               "Message=\"[0xc0000034] LxpInstanceInitialize\n\""},
    {111046465597, BREAK_POINT
     "\"LxpDrvFsTypeMount\" Line=10528 "
     "Message=\"Failed to open volume C:\\WINDOWS\\system32\\lxss\\tools, result -2\n\""},
};

#define AMSI(engine, script)                                                                       \
    "AmsiTrace/AmsiScript Engine=\"" engine "\" Script=\"" script "\" Raw Script=\"" script "\""
#define POWER_SHELL                                                                                \
    "PowerShell_C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe_10.0.18362.1"

static const struct vector amsi[] = {
    {2745538655076, AMSI(POWER_SHELL, "$global:?")},
    {2745555622442, AMSI(POWER_SHELL, "Get-Alias")},
    {2745553923129, AMSI("VBScript", "IWshShell3.Run(\"powershell.exe -nop -w 1 -enc "
                                     "RwBlAHQALQBBAGwAaQBhAHMA\", \"0\", \"true\");\r\n")},
    {2746023961152, AMSI("VBScript", "msgbox \"Is VBScript Dead?\"\r\n")},
};

static const struct vector small[] = {
    {185227292196,
     "Microsoft-Windows-DotNETRuntimeRundown/Loader/ModuleDCStop ModuleID=0x17BD0128 "
     "AssemblyID=0x13D66240 ModuleFlags=8 Reserved1=0 ModuleILPath=\"D:\\PROGRAM FILES "
     "(X"
     "86)\\MICROSOFT VISUAL STUDIO 15.0\\COMMON7\\IDE\\EXTENSIONS\\FRH4KDOG.VTE\\"
     "Microsoft.VisualStudio.Services.Client.dll\" ModuleNativePath=\"\" ClrInstanceID=39 "
     "ManagedPdbSignature={db98eae8-8abc-40a8-b375-433fe44caf70} ManagedPdbAge=1 "
     "ManagedPdbBuildPath=\"D:\\v2.0\\A1\\_work\\4\\obj\\Release.AnyCPU\\Vssf.InteractiveClient"
     "\\MS.VS.Services.Client\\Microsoft.VisualStudio.Services.Client.pdb\" "
     "NativePdbSignature=" ZERO_GUID " NativePdbAge=0 NativePdbBuildPath=\"\""},
};

#define RUNTIME "Microsoft-Windows-DotNETRuntime/"
#define GC RUNTIME "GC/"
#define TICK(amount, kind, type, name, address, size)                                              \
    GC "AllocationTick AllocationAmount=" #amount " AllocationKind=" kind                          \
       " ClrInstanceID=8 AllocationAmount64=" #amount " TypeID=" type " TypeName=\"" name          \
       "\" HeapIndex=0 Address=" address " ObjectSize=" #size

static const struct vector garbage_collector[] = {
    {5464903527823,
     RUNTIME "Runtime/Start ClrInstanceID=8 Sku=2 BclMajorVersion=8 BclMinorVersion=0 "
             "BclBuildNumber=0 BclQfeNumber=0 VMMajorVersion=42 VMMinorVersion=42 "
             "VMBuildNumber=42 VMQfeNumber=42424 StartupFlags=CONCURRENT_GC|"
             "LOADER_OPTIMIZATION_SINGLE_DOMAIN|0x800000 StartupMode=0 CommandLine=\"\" "
             "ComObjectGuid=" ZERO_GUID
             " RuntimeDllPath=\"C:\\Dev\\runtime\\artifacts\\bin\\CoreLab\\Release\\net7.0\\"
             "win-x64\\publish\\coreclr.dll\""},
    {5464903538494,
     GC "CreateSegment Address=0x1B0F1000028 Size=33554392 Type=PinnedObjectHeap ClrInstanceID=8"},
    {5464903538534,
     GC "CreateSegment Address=0x1B0F3800028 Size=4194264 Type=SmallObjectHeap ClrInstanceID=8"},
    {5464903538546,
     GC "CreateSegment Address=0x1B0F3C00028 Size=33554392 Type=LargeObjectHeap ClrInstanceID=8"},
    {5464903656230, GC "CreateSegment Address=0x1F185C60008 Size=4194296 Type=2 ClrInstanceID=8"},
    {5464903676881, GC "FinalizersStart ClrInstanceID=8"},
    {5464903676927, GC "FinalizersStop Count=0 ClrInstanceID=8"},
    {5464937769985, GC "FinalizersStop Count=6 ClrInstanceID=8"},
    {5464903837140, TICK(109120, "Small", "0x7FFB485E1C08", "System.String", "0x1B0F3818B30", 32)},
    {5464903930678,
     TICK(109440, "Small", "0x7FFB486CF828", "System.Text.StringBuilder", "0x1B0F3833850", 48)},
    {5464903976923, TICK(107664, "Small", "0x7FFB48635478",
                         "System.Diagnostics.Tracing.EventKeywords", "0x1B0F3868E88", 24)},
    {5464903979714,
     TICK(110384, "Small", "0x7FFB486E2CD8", "System.Char[]", "0x1B0F3882068", 16024)},
    {5464904011245,
     TICK(217320, "Large", "0x7FFB485E1C08", "System.String", "0x1B0F3C00048", 217328)},
    {5464937754663, GC "SuspendEEStart Reason=SuspendForGC Count=0 ClrInstanceID=8"},
    {5464937754794, GC "Triggered Reason=Induced ClrInstanceID=8"},
    {5464937755399,
     GC "Start Count=1 Depth=1 Reason=Induced Type=0 ClrInstanceID=8 ClientSequenceNumber=0"},
    {5464937762889,
     GC "Start Count=2 Depth=2 Reason=Induced Type=0 ClrInstanceID=8 ClientSequenceNumber=0"},
    {5464937755739, GC "MarkWithType HeapNum=0 ClrInstanceID=8 Type=0 Promoted=24"},
    {5464937756966, GC "MarkWithType HeapNum=0 ClrInstanceID=8 Type=3 Promoted=293544"},
    {5464937757129, GC "MarkWithType HeapNum=0 ClrInstanceID=8 Type=7 Promoted=13948"},
    {5464937755855, GC "PinObjectAtGCTime HandleID=0x1B0F0A815F8 ObjectID=0x1B0F3800208 "
                       "ObjectSize=24 TypeName=\"System.Object\" ClrInstanceID=8"},
    {5464937758730,
     GC "FitBucketInfo ClrInstanceID=8 BucketKind=1 TotalSize=310848 Count=9 "
        "Buckets=[{Index=0 Count=215 Size=26400},{Index=1 Count=117 Size=42536},"
        "{Index=2 Count=106 Size=71120},{Index=3 Count=27 Size=38648},"
        "{Index=4 Count=7 Size=21448},{Index=5 Count=1 Size=4560},{Index=6 Count=1 Size=8216},"
        "{Index=7 Count=1 Size=28944},{Index=8 Count=2 Size=68976}]"},
    {5464937762340,
     GC "GlobalHeapHistory FinalYoungestDesired=4677560 NumHeaps=1 CondemnedGeneration=1 "
        "Gen0ReductionCount=0 Reason=1 GlobalMechanisms=30 ClrInstanceID=8 PauseMode=1 "
        "MemoryPressure=59 CondemnReasons0=0 CondemnReasons1=0 Count=8 "
        "Values=[0,156,0,16,1,154,142,4294967295]"},
    {5464937762426, GC "Stop Count=1 Depth=1 ClrInstanceID=8"},
    {5464937762443,
     GC "HeapStats Generations=[584,310952,314184,0,0,0,326056,0] FinalizationPromotedSize=13948 "
        "FinalizationPromotedCount=6 PinnedObjectCount=1 SinkBlockCount=0 GCHandleCount=53 "
        "ClrInstanceID=8 GenerationSize4=16368 TotalPromotedSize4=0"},
    {5464937768024, GC "HeapStats Generations=[584,104,0,310848,310848,0,108704,108672] "
                       "FinalizationPromotedSize=0 FinalizationPromotedCount=0 PinnedObjectCount=1 "
                       "SinkBlockCount=0 GCHandleCount=53 ClrInstanceID=8 GenerationSize4=16368 "
                       "TotalPromotedSize4=0"},
    {5464937768900,
     GC "FinalizeObject TypeID=0x7FFB487311C0 ObjectID=0x1B0F3015020 ClrInstanceID=8"},
    {5464937767977, GC "LOHCompact ClrInstanceID=8 Count=1 Values=[{TimePlan=1 TimeCompact=17 "
                       "Rest=000000000000000000000000000000000000000000000000}]"},
    {5464937762485, GC "RestartEEStart ClrInstanceID=8"},
    {5464937762530, GC "RestartEEStop ClrInstanceID=8"},
};

/* ---- reading --------------------------------------------------------------------------------- */

struct sample {
    const char *name;
    const struct vector *vectors;
    size_t count;
    size_t events; /* whose fields take the whole payload, the header's aside */
};

#define SAMPLE(name, vectors, events)                                                              \
    {                                                                                              \
        name, vectors, sizeof(vectors) / sizeof((vectors)[0]), events                              \
    }

static const struct sample samples[] = {
    SAMPLE("primitive-types.etl", primitive_types, 5),
    SAMPLE("SelfDescribingSingleEvent.etl", self_describing, 15),
    SAMPLE("lxcore_kernel.etl", lxcore, 2),
    SAMPLE("AMSITrace.etl", amsi, 19),
    SAMPLE("smallEtlFile.etl", small, 1),
    SAMPLE("gcevents.etl", garbage_collector, 65),
};

struct reading {
    etwas_decoder *decoder;
    bool learns;
    size_t whole; /* events with every field and nothing else */
    size_t count;
    struct {
        int64_t time_stamp;
        char *line;
    } events[128];
};

/* Is it described, and do its fields take the whole payload? */
static bool is_whole(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const etwas_schema *schema;
    etwas_fields fields;
    etwas_value value;

    if (etwas_decoder_schema(decoder, record, &schema) != ERROR_SUCCESS ||
        strncmp(schema->event, "EventTrace/", strlen("EventTrace/")) == 0) {
        return false;
    }
    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token == ETWAS_TOKEN_TRUNCATED || value.token == ETWAS_TOKEN_TRAILING) {
            return false;
        }
    }
    return true;
}

static void on_event(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;
    size_t i = reading->count;

    if (reading->learns) {
        uint32_t error = etwas_decoder_learn(reading->decoder, record);

        assert_true(error == ERROR_SUCCESS || error == ERROR_NOT_FOUND);
        return;
    }
    reading->whole += is_whole(reading->decoder, record);
    assert_true(i < sizeof reading->events / sizeof reading->events[0]);
    reading->events[i].time_stamp = record->EventHeader.TimeStamp.QuadPart;
    reading->events[i].line = strdup(shown(reading->decoder, record));
    reading->count++;
}

/* The path of a sample; skips the test when it is not there. */
static char *path_of(const struct sample *sample)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/etl-samples/%s", shared_folder(), sample->name);
    if (access(path, R_OK) != 0) {
        print_message("%s is not there: skipped\n", path);
        skip();
    }
    return path;
}

static void read_file(char *path, struct reading *reading)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
        .Context = reading,
    };
    etwas_trace_handle handle = OpenTraceA(&logfile);

    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
    CloseTrace(handle);
}

static void learn_dotnet(etwas_decoder *decoder)
{
    static char xml[65536];
    FILE *file = fopen(ETWAS_TEST_FOLDER "/dotnet_runtime.xml", "rb");
    size_t bytes;

    assert_non_null(file);
    bytes = fread(xml, 1, sizeof xml, file);
    assert_true(bytes > 0 && bytes < sizeof xml);
    fclose(file);
    assert_int_equal(learn_manifest(decoder, &(etwas_guid){.Data1 = 1}, xml, bytes, 1000),
                     ERROR_SUCCESS);
}

/*
 * Every script is there twice: as a string and as its characters. Two are too long to stand here.
 */
static void check_scripts(const struct reading *reading)
{
    static const char between[] = "\" Raw Script=\"";
    size_t of_350 = 0;
    size_t of_2473 = 0;

    for (size_t i = 0; i < reading->count; i++) {
        const char *script = strstr(reading->events[i].line, " Script=\"");
        const char *raw = script == NULL ? NULL : strstr(script, between);
        size_t bytes;

        if (raw == NULL) {
            continue;
        }
        script += sizeof " Script=\"" - 1;
        bytes = (size_t)(raw - script);
        raw += sizeof between - 1;
        assert_int_equal(strlen(raw), bytes + 1);
        assert_memory_equal(raw, script, bytes);
        of_350 += bytes == 350 && strncmp(raw, "if ($this.Name.IndexOf('-') -lt 0)", 34) == 0;
        of_2473 += bytes == 2474 && strncmp(raw, "@{\r\nGUID=", 9) == 0 &&
                   strstr(raw, "\u00a9") != NULL; /* which has two bytes */
    }
    assert_true(of_350 > 0);
    assert_true(of_2473 > 0);
}

static bool is_there(const struct reading *reading, const struct vector *vector)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->events[i].time_stamp == vector->time_stamp &&
            strcmp(reading->events[i].line, vector->line) == 0) {
            return true;
        }
    }
    print_error("not there: %s\n", vector->line);
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->events[i].time_stamp == vector->time_stamp) {
            print_error("    there is: %s\n", reading->events[i].line);
        }
    }
    return false;
}

static void its_events_have_the_values_worked_out_by_hand(void **state)
{
    const struct sample *sample = *state;
    char *path = path_of(sample);
    struct reading reading = {.learns = true};
    bool all = true;

    assert_int_equal(etwas_decoder_open(&reading.decoder), ERROR_SUCCESS);
    learn_dotnet(reading.decoder);
    read_file(path, &reading);
    reading.learns = false;
    read_file(path, &reading);
    for (size_t i = 0; i < sample->count; i++) {
        all = is_there(&reading, &sample->vectors[i]) && all;
    }
    assert_true(all);
    assert_int_equal(reading.whole, sample->events);
    if (sample->vectors == amsi) {
        check_scripts(&reading);
    }
    for (size_t i = 0; i < reading.count; i++) {
        free(reading.events[i].line);
    }
    etwas_decoder_close(reading.decoder);
}

int main(void)
{
    enum {
        COUNT = sizeof samples / sizeof samples[0]
    };
    struct CMUnitTest tests[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        tests[i] = (struct CMUnitTest){
            .name = samples[i].name,
            .test_func = its_events_have_the_values_worked_out_by_hand,
            .initial_state = (void *)(uintptr_t)&samples[i],
        };
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
