-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 the etwas authors
--
-- Made-up events of one host, for tables as `etwas ship --ddl` makes them on 18.16: @HOST is its number from 0, @EVENTS
-- how many, a multiple of 1,000. A host has one session; its calls are of 20 classes, ten calls are of one order, and four
-- hosts work on the same orders. The clock of host 13 is 4 ms behind, that of host 7 is known to 3 ms alone; one call of
-- 100 is slow, and one of 200 fails.

insert into etwas.event (day, time, time_error, host, session_id, part, cpu, buffer, position, pid, tid, provider_id,
    provider, event_class_id, event_class, event, opcode, level, keyword, instance, parent_instance, activity, ints.keys, ints.values, reals.keys, reals.values,
    texts.keys, texts.values)
select toDate('2026-11-26'),
    1795651200000000000 + call * 2000000 + (@HOST % 4) * 100000 - if(@HOST = 13, 4000000, 0)
        + if(is_end, 20000 + hash % 1000000 * if(luck % 100 = 7, 40, 1), 0),
    if(@HOST = 7, 3000000, 2000),
    'host@HOST', 1000 + @HOST, 0, buffer % 8, buffer, number % 1000, 4000 + @HOST, 5000 + call % 8,
    toUUID('5ab7a3c2-1f0e-4d7b-9a31-6e02d4cc7710'), 'Shop',
    toUUID(concat('5ab7a3c2-1f0e-4d7b-9a31-6e02d4cc77', toString(10 + kind))),
    concat('Shop/Call', toString(kind)), concat('Shop/Call', toString(kind), if(is_end, '/End', '/Start')),
    1 + is_end, if(is_end and luck % 200 = 3, 2, 4), 1, call + 1,
    if(call % 10 = 0, 0, intDiv(call, 10) * 10 + 1),
    toUUID(concat('00000000-0000-4000-8', substring(toString(1000 + intDiv(@HOST, 4)), 2, 3), '-',
        substring(toString(1000000000000 + intDiv(call, 10)), 2, 12))),
    if(is_end, ['order', 'outcome'], ['order']),
    if(is_end, [toInt64(intDiv(call, 10)), toInt64(if(luck % 200 = 3, 2, 0))], [toInt64(intDiv(call, 10))]),
    if(is_end, ['amount'], emptyArrayString()),
    if(is_end, [hash % 9973 / 100], emptyArrayFloat64()),
    [if(is_end, 'outcome', 'with')],
    [if(is_end, if(luck % 200 = 3, 'failed', 'done'), concat('service', toString(kind)))]
from
(
    select number, intDiv(number, 2) as call, number % 2 as is_end, intDiv(number, 1000) + 1 as buffer,
        cityHash64(call * 1000 + @HOST) as hash, intDiv(hash, 20) as luck, hash % 20 as kind
    from numbers(@EVENTS)
);

insert into etwas.event_buffer (day, host, session_id, part, cpu, buffer, first_time, last_time, events, bytes, state, recorded,
    lost, lost_no_buffer, ended)
select toDate('2026-11-26'), 'host@HOST', 1000 + @HOST, 0, number % 8, if(is_end, 0, number + 1),
    1795651200000000000 + number * 1000000000, 1795651200000000000 + number * 1000000000, if(is_end, 0, 1000),
    if(is_end, 0, 65536), is_end, if(is_end, @EVENTS, 0), if(is_end, @HOST, 0), if(is_end, @HOST, 0), is_end
from
(
    select number, number = intDiv(@EVENTS, 1000) as is_end from numbers(intDiv(@EVENTS, 1000) + 1)
);
