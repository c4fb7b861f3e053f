# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Prints the rows of a run as tables: medians, with the 10th and the 90th percentile of the
rounds."""

import math

# The floors of rows that are not named like their floor.
FLOORS = {
    "gate": "empty_call",
    "tracelogging_gate": "empty_call",
    "constant/rseq/16": "floor/constant/16",
    "constant/shared/16": "floor/constant/16",
    "constant_many/8/rseq/16": "floor/constant/16",
    "constant_many/8/shared/16": "floor/constant/16",
}
# The floors of calls whose header is not TraceEventInstance's.
HEADERS = {
    "event": "floor_event",
    "write": "floor_write",
    "write_two": "floor_write",
    "many_write": "floor_write",
    "message": "floor_message",
    "tracelogging": "floor_tracelogging",
}
PERCENTILES = ["p50", "p90", "p99", "p99.9", "p99.99", "max"]
CAUSES = ["slow_switch", "slow_fault", "slow_preempted", "slow_other", "interrupts",
          "interrupts_inside"]
WIDTH = 44


def percentile(values, share):
    """Interpolates linearly between neighbours: percentile([1, 2, 3, 4], 0.5) == 2.5."""
    values = sorted(values)
    place = share * (len(values) - 1)
    low, high = math.floor(place), math.ceil(place)
    return values[low] + (values[high] - values[low]) * (place - low)


def median(row):
    return percentile(row["values"], 0.5)


def medians_of(rows):
    return {row["row"]: median(row) for row in rows if row["values"] and "failed" not in row}


def number(value):
    """Formats three digits or more, and no needless ones: 12.3, 1,234, 65.1 M, 3.1e-06."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:,.1f} M"
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.01 or size == 0 else f"{value:.1e}"


def floor_of(name):
    """Returns the name of a row's floor: hot/file/rseq/tsc/16 -> floor/tsc/16; None if it has
    none."""
    parts = name.split("/")
    if name in FLOORS:
        return FLOORS[name]
    if parts[0] == "stopped":
        return "empty_call"
    if parts[0].startswith("classes_"):
        return "/".join([parts[0].removeprefix("classes_")] + parts[1:])
    if parts[0] == "stack":
        return "/".join(["write"] + parts[1:])
    if parts[0] in ("times", "counted", "crash_safe", "classes"):
        return "/".join(["hot", "buffering"] + parts[1:])
    if len(parts) < 4 or parts[0].startswith("constant_"):
        return None
    return "/".join([HEADERS.get(parts[0], "floor")] + parts[-2:])


def heading(title, columns, width=10):
    print(f"\n{title:<{WIDTH}}" + "".join(f"{column:>{width}}" for column in columns))


def show_calls(rows):
    """Shows each row beside its floor, and their ratio."""
    medians = medians_of(rows)
    heading("ns an operation", ["median", "p10", "p90", "floor", "ratio"])
    for row in rows:
        name = row["row"]
        if name not in medians:
            continue
        line = f"{name:<{WIDTH}}{medians[name]:>10.2f}"
        line += f"{percentile(row['values'], 0.1):>10.2f}{percentile(row['values'], 0.9):>10.2f}"
        floor = medians.get(floor_of(name))
        if floor:
            line += f"{floor:>10.2f}{medians[name] / floor:>10.2f}"
        print(line)


def show_clocks(rows):
    """Shows each row beside the laboratory's figure for the same, and their ratio."""
    medians = medians_of(rows)
    heading("ns a reading", ["median", "p10", "p90", "laboratory", "ratio"], 12)
    for row in rows:
        name = row["row"]
        if name not in medians or name.startswith("laboratory/"):
            continue
        cells = [medians[name], percentile(row["values"], 0.1), percentile(row["values"], 0.9)]
        found = medians.get("laboratory/" + name.split("/", 1)[1])
        if found is not None:
            cells.append(found)
            cells += [found / medians[name]] if medians[name] else []
        print(f"{name:<{WIDTH}}" + "".join(f"{cell:>12.2f}" for cell in cells))


def show_grid(rows, title, endings):
    """Shows a line for each row that has `endings`, with a column for each of them."""
    medians = medians_of(rows)
    first = "/" + endings[0]
    names = [name.removesuffix(first) for name in medians if name.endswith(first)]
    if names:
        heading(title, endings, 18 if endings is CAUSES else 10)
    for name in names:
        cells = [medians.get(f"{name}/{ending}") for ending in endings]
        width = 18 if endings is CAUSES else 10
        print(f"{name:<{WIDTH}}"
              + "".join(f"{'' if cell is None else number(cell):>{width}}" for cell in cells))


def show_scaling(rows):
    medians = medians_of(rows)
    heading("threads", ["events/s", "p10", "p90", "x one", "cpu ns", "x one", "restarts/event"], 15)
    for row in rows:
        name = row["row"]
        if name not in medians or row["unit"] != "events/s":
            continue
        one = name.rsplit("/", 2)[0] + "/pinned/1"
        cells = [medians[name], percentile(row["values"], 0.1), percentile(row["values"], 0.9)]
        if one in medians:
            cells.append(medians[name] / medians[one])
            cells += [medians[f"{name}/cpu"], medians[f"{name}/cpu"] / medians[f"{one}/cpu"]]
            cells.append(medians[f"{name}/restarts"])
        print(f"{name:<{WIDTH}}" + "".join(f"{number(cell):>15}" for cell in cells))


def show_plain(rows):
    """Omits rows without losses: the row that they belong to notes a loss."""
    heading("", ["unit", "median", "p10", "p90"], 15)
    for row in rows:
        if not row["values"] or "failed" in row:
            continue
        if row["row"].endswith("/lost") and not any(row["values"]):
            continue
        values = [median(row), percentile(row["values"], 0.1), percentile(row["values"], 0.9)]
        print(f"{row['row']:<{WIDTH}}{row['unit']:>15}"
              + "".join(f"{number(value):>15}" for value in values)
              + ("  " + row["note"] if "note" in row else ""))


def is_of_grid(row):
    return row["row"].rsplit("/", 1)[-1] in PERCENTILES + CAUSES


def show_sentences(rows):
    """Prints skipped rows with the same reason in one line."""
    reasons = {}
    for row in rows:
        if "skipped" in row and not row["values"]:
            reasons.setdefault(row["skipped"], []).append(row["row"])
    for reason, names in reasons.items():
        more = f" and {len(names) - 1} more rows" if len(names) > 1 else ""
        print(f"\nskipped: {names[0]}{more}: {reason}")
    for row in rows:
        if "failed" in row:
            print(f"\nFAILED: {row['row']}: {row['failed']}")


def in_order(rows):
    """Returns the rows as the programs print them, except that the peers', which run in random
    order, are sorted."""
    return sorted(rows, key=lambda row: row["row"] if row["part"] == "peers" else "")


def show(rows):
    parts = {}
    rows = in_order(rows)
    for row in rows:
        parts.setdefault(row["part"], []).append(row)
    calls = parts.pop("hot", []) + parts.pop("constant", [])
    if medians_of(calls):
        show_calls(calls)
    clocks = parts.pop("clocks", [])
    if medians_of(clocks):
        show_clocks(clocks)
    show_grid(rows, "ns a single call", PERCENTILES)
    show_grid(rows, "slow calls, a million", CAUSES)
    scaling = parts.pop("scaling", [])
    if medians_of(scaling):
        show_scaling(scaling)
    for part in parts.values():
        plain = [row for row in part if not is_of_grid(row)]
        if medians_of(plain):
            show_plain(plain)
    show_sentences(rows)
