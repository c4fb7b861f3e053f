/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "tracelogging/cpp.h"

#include <etwas/TraceLoggingActivity.h>
#include <string>
#include <utility>

void write_temporaries()
{
    TraceLoggingWrite(
        cpp_provider, "Temporaries", TraceLoggingString(std::string(40, 'a').c_str(), "string"),
        TraceLoggingValue(std::u16string(40, u'b').c_str(), "wide"),
        TraceLoggingCountedString(std::string(40, 'c').data(), 40, "counted"),
        TraceLoggingGuid(etwas_guid(), "guid"), TraceLoggingInt32([] { return 7; }(), "lambda"));
}

template <typename Type> static void write_value(Type value)
{
    TraceLoggingWrite(cpp_provider, "Value", TraceLoggingValue(value));
}

inline void write_inline()
{
    TraceLoggingWrite(cpp_provider, "Inline");
}

void write_in_templates()
{
    write_value(1);
    write_value('x');
    write_value(u'y');
    write_value(true);
    write_inline();
}

void write_an_activity(const etwas_guid *related)
{
    TraceLoggingActivity<cpp_provider, 6, WINEVENT_LEVEL_WARNING> activity;

    activity.SetRelatedActivityId(related);
    TraceLoggingWriteStart(activity, "Activity", TraceLoggingUInt8(1, "field"));
    TraceLoggingWriteTagged(activity, "Tagged", TraceLoggingKeyword(2));
    TraceLoggingWriteStop(activity, "Activity", TraceLoggingLevel(WINEVENT_LEVEL_ERROR),
                          TraceLoggingKeyword(8));
}

void write_nested_thread_activities()
{
    TraceLoggingThreadActivity<cpp_provider> outer;
    TraceLoggingThreadActivity<cpp_provider> inner;

    TraceLoggingWriteStart(outer, "Outer");
    TraceLoggingWriteStart(inner, "Inner");
    TraceLoggingWrite(cpp_provider, "Event");
    TraceLoggingWriteStop(inner, "Inner");
    TraceLoggingWrite(cpp_provider, "Event");
    TraceLoggingWriteStop(outer, "Outer");
    TraceLoggingWrite(cpp_provider, "Event");
}

void leave_activities_unstopped()
{
    TraceLoggingActivity<cpp_provider, 1, WINEVENT_LEVEL_INFO> activity;
    TraceLoggingThreadActivity<cpp_provider, 2, WINEVENT_LEVEL_ERROR> threads;
    TraceLoggingActivity<cpp_provider> never_started;

    TraceLoggingWriteStart(activity, "Activity");
    TraceLoggingWriteStart(threads, "Threads");
}

void move_an_activity()
{
    TraceLoggingActivity<cpp_provider> activity;

    TraceLoggingWriteStart(activity, "Activity");
    TraceLoggingActivity<cpp_provider> moved(std::move(activity));
    TraceLoggingWriteStop(moved, "Activity");
}

void set_the_threads_id(const etwas_guid *id)
{
    TraceLoggingThreadActivityIdSetter setter(id);

    TraceLoggingWrite(cpp_provider, "Event");
}
