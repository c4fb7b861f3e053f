# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Plain LZ77, how compressed buffers of Windows files are stored, for etl_walk.py."""
import struct


def decompress(data, size):
    """Plain LZ77: 32 items to a flag word, a literal byte or a match of 3 bytes and more."""
    out, at, left, word, shared = bytearray(), 0, 0, 0, None
    while len(out) < size:
        if left == 0:
            word, at, left = struct.unpack_from("<I", data, at)[0], at + 4, 32
        left -= 1
        if not word >> left & 1:
            out.append(data[at])
            at += 1
            continue
        match, at = struct.unpack_from("<H", data, at)[0], at + 2
        length = match & 7
        if length == 7:
            if shared is None:
                nibble, shared, at = data[at] & 15, at, at + 1
            else:
                nibble, shared = data[shared] >> 4, None
            length += nibble
            if nibble == 15:
                length, at = length + data[at], at + 1
                if data[at - 1] == 255:
                    length, at = struct.unpack_from("<H", data, at)[0], at + 2
                    if length == 0:
                        length, at = struct.unpack_from("<I", data, at)[0], at + 4
        start = len(out) - (match >> 3) - 1
        if start < 0:
            raise ValueError("a match before the start")
        for i in range(length + 3):
            out.append(out[start + i])
    if len(out) != size:
        raise ValueError("a match past the end")
    return bytes(out)
