# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""GUIDs as etl_walk.py keeps them: one object for each value, so that `is` compares them."""
import functools
import uuid


@functools.lru_cache(maxsize=None)
def of(raw):
    """That of 16 bytes of a file."""
    return uuid.UUID(bytes_le=raw)


NONE = of(bytes(16))
# Records a writer makes for itself carry this class; they are no events.
OWN_CLASS = of(uuid.UUID("7be5a508-db35-4ec9-b650-a9720ecb3b69").bytes_le)
# Event metadata, images and their builds: of our own files no events either.
METADATA_CLASS = of(uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671").bytes_le)
IMAGE_CLASS = of(uuid.UUID("2cb15d1d-5fc1-11d2-abe1-00a0c911f518").bytes_le)
BUILD_CLASS = of(uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de").bytes_le)
NO_EVENTS = {METADATA_CLASS, IMAGE_CLASS, BUILD_CLASS}
text = functools.lru_cache(maxsize=None)(str)
