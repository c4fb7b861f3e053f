# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The metadata of our own files, for etl_walk.py: what describes classes and messages, images, and
what the file of a trigger says of its window."""
import re
import struct

import guids

EVENT_INFO, MAP_INFO, FORMAT, WINDOW, MISSING = 32, 33, 4, 14, 15
IMAGE_THERE, IMAGE_LOADED, BUILD = 3, 10, 36
RELOGGED = 0x10000  # of LogFileMode
SINGLE, FIXED_COUNT, BY_COUNT, BY_LENGTH = 1, 0x20, 4, 2


def text_at(payload, at):
    """A UTF-16 text and where it ends; None where it is none."""
    end = at
    while end + 2 <= len(payload):
        if payload[end:end + 2] == b"\0\0":
            return payload[at:end].decode("utf-16-le"), end + 2
        end += 2
    return None, len(payload)


class Texts:
    """They follow one another, from `at` to the end."""

    def __init__(self, walker, payload, at):
        self.walker, self.payload, self.at = walker, payload, at

    def next(self, offset, name):
        if offset == 0:
            return None
        self.walker.check(offset == self.at, f"event metadata: {name} at {offset}, not {self.at}")
        text, self.at = text_at(self.payload, offset)
        self.walker.check(bool(text), f"event metadata: {name} is no text")
        return text

    def end(self):
        self.walker.check(self.at == len(self.payload), "event metadata: more behind the texts")


def field(texts, payload, index):
    flags, name, in_type, out_type, map_name, count, length, tags = struct.unpack_from(
        "<IIHHIHHI", payload, 112 + 24 * index)
    found = {"name": texts.next(name, "a field"), "in": in_type, "out": out_type, "flags": flags,
             "count": count, "length": length, "map": texts.next(map_name, "a map's name")}
    texts.walker.check(not flags & ~(BY_LENGTH | BY_COUNT | 0x10 | FIXED_COUNT) and tags == 0 and
                       found["name"], "event metadata: a field's flags, tags or name")
    texts.walker.check(not flags & BY_COUNT or count == index - 1, "event metadata: who counts")
    texts.walker.check(not flags & BY_LENGTH or length == index - 1, "event metadata: who measures")
    return found


def event(walker, payload):
    walker.check(len(payload) >= 136, "EventInfo: short")
    if len(payload) < 136:
        return None
    event_id, version, channel, level, opcode, task, keyword = struct.unpack_from("<HBBBBHQ",
                                                                                  payload, 32)
    source, provider, *none = struct.unpack_from("<5I", payload, 48)
    task_name, opcode_name, *more = struct.unpack_from("<11I", payload, 68)
    count = more[-3]
    walker.check(payload[:16] == payload[16:32] and source == 1, "EventInfo: GUIDs or source")
    walker.check(event_id == channel == task == keyword == 0, "EventInfo: descriptor")
    walker.check(not any(none) and not any(more[:-3]) and more[-3:] == [count, count, 0],
                 "EventInfo: offsets or counts")
    at = 112 + 24 * max(count, 1)
    # What is built in begins with an empty text, where all that has no name points to.
    built_in = walker.header["mode"] & RELOGGED and payload[at:at + 2] == b"\0\0"
    texts = Texts(walker, payload, at + 2 if built_in else at)
    found = {"class": guids.text(guids.of(payload[:16])), "type": opcode, "version": version,
             "level": level, "provider": texts.next(provider, "provider"),
             "task": texts.next(task_name, "task"), "opcode": texts.next(opcode_name, "opcode")}
    found["fields"] = [field(texts, payload, index) for index in range(count)]
    texts.end()
    return found


def map_of(walker, payload):
    name, flag, count, kind = struct.unpack_from("<4I", payload, 16)
    payload = payload[16:]
    walker.check(flag in (1, 2) and kind == 0 and count > 0, "MapInfo: flag, count or kind")
    walker.check(name == 16 + 8 * (count + 1), "MapInfo: where the name is")
    texts = Texts(walker, payload, name)
    found = {"map": texts.next(name, "map"), "bits": flag == 2, "entries": []}
    for index in range(count):
        at, value = struct.unpack_from("<II", payload, 16 + 8 * index)
        text = texts.next(at, "entry") or ""
        walker.check(text.endswith(" "), "MapInfo: a text without a blank behind it")
        found["entries"].append((value, text[:-1]))
    walker.check(not any(payload[16 + 8 * count:name]), "MapInfo: behind the entries")
    texts.end()
    return found


def message(walker, payload):
    version, number, reserved = struct.unpack_from("<IHH", payload)
    walker.check(version == 1 and reserved == 0 and payload[-1:] == b"\0" and
                 payload.count(b"\0", 24) == 1, "message format: version or text")
    return {"message": guids.text(guids.of(payload[8:24])), "number": number,
            "format": payload[24:-1].decode()}


def image(walker, payload):
    walker.check(len(payload) >= 58, "image: short")
    if len(payload) < 58:
        return None
    base, size, process, *none = struct.unpack_from("<QQ4I", payload)
    path, end = text_at(payload, 56)
    walker.check(size > 0 and process > 0 and not any(none) and not any(payload[40:56]) and
                 path is not None and end == len(payload), "image: size, process or path")
    return {"image": path, "base": base}


def build(walker, payload):
    walker.check(len(payload) > 32, "build of an image: short")
    if len(payload) <= 32:
        return None
    base, process, signature, age = struct.unpack_from("<QI16sI", payload)
    name = re.fullmatch(rb"\.build-id/([0-9a-f]{2})/([0-9a-f]*)\.debug\0", payload[32:])
    walker.check(process > 0 and age == 0 and name, "build of an image: process, age or name")
    whole = bytes.fromhex((name[1] + name[2]).decode()) if name else b""
    walker.check(whole[:16].ljust(16, b"\0") == signature, "build of an image: signature")
    return {"build": whole.hex(), "base": base}


def window(walker, payload):
    walker.check(len(payload) == 64, "window: size")
    version, _, triggers, _, moment, begin, until, covered, to, _ = struct.unpack(
        "<4I5qQ", payload[:64].ljust(64))
    walker.check(version == 1 and triggers != 0, "window: version or triggers")
    walker.check(begin <= covered <= moment <= to <= until,
                 "window: the moment is not in what is covered")


def missing(walker, payload):
    walker.check(len(payload) == 24, "missing: size")
    version, processor, begin, to = struct.unpack("<IIqq", payload[:24].ljust(24))
    walker.check(version == 1 and processor < walker.header["processors"],
                 "missing: version or processor")
    walker.check(begin < to, "missing: nothing is")


# What reads each kind, its Class.Version, and the types it has.
KINDS = {guids.METADATA_CLASS: ({EVENT_INFO: event, MAP_INFO: map_of}, 0),
         guids.OWN_CLASS: ({FORMAT: message, WINDOW: window, MISSING: missing}, 1),
         guids.IMAGE_CLASS: ({IMAGE_THERE: image, IMAGE_LOADED: image}, 2),
         guids.BUILD_CLASS: ({BUILD: build}, 2)}


def check(walker):
    if not walker.own():
        return
    for record in walker.records:
        if walker.is_event(record) or walker.is_own(record) or record["guid"] not in KINDS:
            continue
        readers, its_version = KINDS[record["guid"]]
        walker.check(record["type"] in readers, "event metadata: type")
        level, version = struct.unpack_from("<BH", record["raw"], 5)
        walker.check(record["name"] == "FULL64" and level == 0 and version == its_version,
                     "event metadata: no FULL64, or Class.Level or Class.Version")
        buffer = walker.buffers[record["buffer"]]
        # What was relogged has them among the events.
        walker.check(buffer["number"] != 0 and buffer["cpu"] == 0 and
                     (buffer["stamp"] == record["stamp"] or walker.header["mode"] & RELOGGED),
                     "event metadata: processor or stamp")
        read = readers.get(record["type"], lambda walker, payload: None)
        said = {**(read(walker, record["payload"]) or {}), "buffer": record["buffer"]}
        # A window is of the file itself.
        if read not in (window, missing):
            walker.described.append(said)
