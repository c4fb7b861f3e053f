#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Seeds one fault of the rseq protocol in a copy of the sources.

usage: fault.py --list            the names
       fault.py --tests NAME      the tests that must find it, one a line: program and test
       fault.py --show NAME       the fault itself, as text
       fault.py --sources NAME    the files that it is seeded in and its tests' own, one a line
       fault.py NAME TREE         seeds it in TREE

Most have the same name in the model (tests/model/rseq.pml). A text that is not found, or not
as often as expected, is an error: the sources have changed, and the fault must be looked at again.
"""
import pathlib
import sys

# name: (edits, tests); an edit: (file, text, replacement, how often); a test: "program test"
FAULTS = {
    # Stop reads the slots, and frees the region, while a writer may still commit.
    "NO_MEMBARRIER": (
        [("runtime/flush/shut_down.c",
          "session->buffers.pool->rseq_slots == 0 || etwas_rseq_fence()", "true", 1)],
        ["buffer_rseq_stop_load a_stop_waits_for_nobody_and_misses_nothing"],
    ),
    # A writer that is moved before its sequence commits in the slot of the processor it came from.
    "NO_PROCESSOR_CHECK": (
        [("runtime/platform/rseq_x86_64.S", "        jne     .Lmoved\n", "", 1)],
        ["buffer_rseq_move a_writer_moved_before_or_inside_a_step*"],
    ),
    # The gate is checked before the sequences only.
    "GATE_OUTSIDE": (
        [("runtime/buffer/publish_rseq.c", "        {etwas_slot_gate(slot), gate},\n",
          "        {&slot->word, word},\n", 1),
         ("runtime/buffer/switch_rseq.c", "{etwas_slot_gate(step->slot), step->gate}",
          "{&step->gate, step->gate}", 3)],
        ["buffer_rseq_stop a_writer_is_held_inside_any_step*"],
    ),
    # The quick sequence does not check the gate.
    "QUICK_WITHOUT_GATE": (
        [("runtime/buffer/quick_rseq_x86_64.h", "\"cmpl %k[generation], %c[gate](%[slot])\\n\\t\"",
          "\"cmpl %%r8d, %%r8d\\n\\t\"", 1)],
        ["buffer_rseq_stop a_writer_is_held_inside_any_step*"],
    ),
    # A snapshot reads a full buffer that anybody may claim meanwhile.
    "NO_PIN": (
        [("runtime/buffer/pool.c",
          "    if (!ck_pr_cas_64(&pool->owners[buffer], owner, etwas_owner_as(owner, "
          "ETWAS_OWNER_PINNED))) {\n", "    if (ck_pr_load_64(&pool->owners[buffer]) != owner) {\n",
          1)],
        ["buffer_rseq_flush a_snapshot_that_stands_still*"],
    ),
    # An owner word does not say which claim of the buffer it means.
    "NO_TICKET": (
        [("runtime/buffer/owner.h",
          "    return ticket << ETWAS_OWNER_TICKET_SHIFT | (uint64_t)slot",
          "    return (ticket & 0) << ETWAS_OWNER_TICKET_SHIFT | (uint64_t)slot", 1)],
        ["buffer_rseq_flush a_snapshot_that_stands_still*",
         "buffer_rseq_abort a_buffer_is_closed_however_often*"],
    ),
    # A writer claims a buffer although its processor has claimed one meanwhile.
    "CLAIM_WITHOUT_SPARE": (
        [("runtime/buffer/switch_rseq.c",
          "    sequence.target = &pool->owners[buffer];\n",
          "    sequence.target = &pool->owners[buffer];\n"
          "    step->checks[2] = step->checks[3] = step->checks[0];\n", 1)],
        ["buffer_rseq_abort a_buffer_that_a_handler_claimed*"],
    ),
    # A record is written over one that was committed meanwhile.
    "WORD_UNCHECKED": (
        [("runtime/buffer/publish_rseq.c",
          "        {&slot->word, word},\n        {&slot->newest, newest},\n", "", 1)],
        ["buffer_rseq_abort a_handler_logs_inside_any_step*"],
    ),
    # A writer whose CLOSE was interrupted goes on without it.
    "CLOSE_LEFT_OUT": (
        [("runtime/buffer/switch_rseq.c",
          "        return ERROR_SUCCESS; /* not replaced before: a link leads back to one buffer "
          "only */\n", "", 1)],
        ["buffer_rseq_abort a_buffer_is_closed_however_often*"],
    ),
    # A writer of a shared session takes the word of the next one, which has rseq slots, for its
    # own.
    "WORD_OF_EITHER": (
        [("runtime/buffer/slot.h", "    return ETWAS_WORD_SHARED | etwas_slot_word(",
          "    return etwas_slot_word(", 1)],
        ["buffer_rseq_leftover a_writer_does_not_take_the_place*"],
    ),
    # A session with rseq slots makes the epochs of its entry begin anew.
    "EPOCH_ANEW": (
        [("runtime/session/session.c", "etwas_word_empty(slot_last_word(session, slot))",
          "etwas_word_empty(ck_pr_load_64(&slot->word))", 1),
         ("runtime/session/session.c", "static uint64_t slot_last_word(struct",
          "__attribute__((unused)) static uint64_t slot_last_word(struct", 1)],
        ["buffer_rseq_leftover a_session_with_sequences_in_between*"],
    ),
    # A snapshot believes its copy of a current buffer that was claimed while it copied.
    "SNAPSHOT_NO_RECHECK": (
        [("runtime/file/snapshot.c",
          "    return etwas_current_is_unchanged(&current, pool);\n", "    return true;\n", 1)],
        ["buffer_rseq_flush a_snapshot_that_stands_still*"],
    ),
}


def seed(name, tree):
    for file, text, replacement, count in FAULTS[name][0]:
        path = pathlib.Path(tree) / file
        source = path.read_text()
        if source.count(text) != count:
            sys.exit(f"{name}: {file} has {source.count(text)} times, not {count}:\n{text}")
        path.write_text(source.replace(text, replacement))


def sources(name):
    """Of a test also what interrupts it inside a sequence."""
    edits, tests = FAULTS[name]
    names = {file for file, *_ in edits}
    for program in {test.split()[0].removeprefix("buffer_") for test in tests}:
        names |= {f"tests/buffer/{file}" for file in (f"{program}_test.c", "interrupt.c",
                                                      "storm.c")}
    return sorted(names)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(FAULTS))
    elif len(sys.argv) == 3 and sys.argv[1] == "--tests":
        print("\n".join(FAULTS[sys.argv[2]][1]))
    elif len(sys.argv) == 3 and sys.argv[1] == "--show":
        print(FAULTS[sys.argv[2]])
    elif len(sys.argv) == 3 and sys.argv[1] == "--sources":
        print("\n".join(sources(sys.argv[2])))
    elif len(sys.argv) == 3:
        seed(sys.argv[1], sys.argv[2])
    else:
        sys.exit(__doc__)


main()
