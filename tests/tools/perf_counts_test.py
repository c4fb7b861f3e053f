#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""An independent count: `perf record` records the same tracepoints as `etwas record` while the same
program runs, and both have the same events: of the program's threads by thread, of the processors
by kind.

The kernel counts some events of interrupts that it hands to nobody: etwas says so, perf does not. A
kind of which etwas lost any, or of interrupts perf has less, is looked at again in the next
attempt.

usage: perf_counts_test.py PATH_OF_ETWAS PATH_OF_KNOWN_WORK TEST_CLASS
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

from tool_case import FAILED, ToolTest, main

COUNT = 200
ATTEMPTS = 4
EDGE_NS = 500_000  # an event is stamped for each of the two; the work rests at both ends for longer
FLAGS = ("process,thread,cswitch,dispatcher,systemcall,memory_page_faults,interrupt,dpc,"
         "network_tcpip,virtual_alloc,"
         "no_sysconfig")
OF_THREADS = ("raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "sched:sched_switch",
              "sched:sched_waking", "sched:sched_wakeup_new", "sched:sched_process_fork",
              "sched:sched_process_exec", "exceptions:page_fault_user",
              "exceptions:page_fault_kernel", "sock:inet_sock_set_state", "sock:sock_send_length",
              "sock:sock_recv_length", "syscalls:sys_enter_munmap")
OF_PROCESSORS = ("irq:irq_handler_exit", "irq:softirq_exit", "irq_vectors:local_timer_exit",
                 "irq_vectors:reschedule_exit", "irq_vectors:call_function_single_exit",
                 "timer:timer_expire_exit", "timer:hrtimer_expire_exit",
                 "workqueue:workqueue_execute_end")
LINE = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s+(\w+:\w+):\s?(.*)")
KINDS = {  # and their tracepoints
    "vector": "irq_vectors:", "device": "irq:irq_handler", "softirq": "irq:softirq",
    "TimerDPC": "timer:", "ThreadDPC": "workqueue:", "SysClEnter": "raw_syscalls:sys_enter",
    "SysClExit": "raw_syscalls:sys_exit", "CSwitch": "sched:sched_switch",
    "ReadyThread": "sched:sched_wak", "PageFault": "exceptions:", "Thread/Start": "FORK, EXIT",
    "exec": "BPF program", "Connect": "sock:inet_sock", "Accept": "sock:inet_sock",
    "Send": "sock:sock_send", "Recv": "sock:sock_recv", "VirtualFree": "syscalls:sys_e",
}
OF_INTERRUPTS = {"vector", "device", "softirq", "TimerDPC", "ThreadDPC", "ReadyThread"}
STATES = {("TCP_SYN_SENT", "TCP_ESTABLISHED"): "Connect",
          ("TCP_SYN_RECV", "TCP_ESTABLISHED"): "Accept"}


class Seen:
    """How many events there are of each key: in the window for sure, and at most."""

    def __init__(self, work):
        self.work = work
        self.surely = collections.Counter()
        self.at_most = collections.Counter()

    def add(self, when, key):
        self.surely[key] += self.work.since + EDGE_NS <= when <= self.work.until - EDGE_NS
        self.at_most[key] += self.work.since - EDGE_NS <= when <= self.work.until + EDGE_NS


Work = collections.namedtuple("Work", "since until process call port")


def value(text, name):
    found = re.search(rf"\b{name}=(\w+)", text)
    return int(found[1]) if found[1].isdigit() else found[1]


def perf_key(event, thread, text):
    """(whose, what): a thread, or a string for what belongs to none. None: it is not compared."""
    group, name = event.split(":")
    if group == "irq_vectors":
        return "vector", value(text, "vector")
    if group == "exceptions":
        return thread, "PageFault"
    if group in ("timer", "workqueue"):
        return "deferred", "TimerDPC" if group == "timer" else "ThreadDPC"
    if name == "inet_sock_set_state":
        what = STATES.get((value(text, "oldstate"), value(text, "newstate")))
        return what and (what, value(text, "dport" if what == "Connect" else "sport"))
    return {
        "sys_enter": lambda: (thread, "SysClEnter"),
        "sys_exit": lambda: (thread, "SysClExit"),
        "sched_switch": lambda: (value(text, "prev_pid"), "CSwitch"),
        "sched_waking": lambda: (thread, "ReadyThread"),
        "sched_wakeup_new": lambda: (thread, "ReadyThread"),
        "sched_process_fork": lambda: (thread, "Thread/Start"),
        "sched_process_exec": lambda: (thread, "exec"),
        "irq_handler_exit": lambda: ("device", value(text, "irq")),
        "softirq_exit": lambda: ("softirq", value(text, "action")),
        "sock_send_length": lambda: (thread, "Send"),
        "sock_recv_length": lambda: (thread, "Recv"),
        "sys_enter_munmap": lambda: (thread, "VirtualFree"),
    }[name]()


def etwas_key(event):
    name, fields, thread = event["event"].partition("/")[2], event["fields"], event.get("tid")
    if name.startswith("PageFault/") and name.endswith("Fault") or name == "PageFault/CopyOnWrite":
        return thread, "PageFault"
    if name == "PerfInfo/ISR":
        return "vector" if fields["Reserved"] else "device", fields["Vector"]
    if name in ("TcpIp/ConnectIPV4", "TcpIp/AcceptIPV4"):
        what = name[6:-4]
        return what, fields["dport" if what == "Connect" else "sport"]
    return {
        "PerfInfo/SysClEnter": lambda: (thread, "SysClEnter"),
        "PerfInfo/SysClExit": lambda: (thread, "SysClExit"),
        "Thread/CSwitch": lambda: (fields["OldThreadId"], "CSwitch"),
        "Thread/ReadyThread": lambda: (thread, "ReadyThread"),
        "Thread/Start": lambda: (thread, "Thread/Start"),
        "Process/DCStart": lambda: (fields["ProcessId"], "exec"),
        "PerfInfo/DPC": lambda: ("softirq", fields["Routine"]),
        "PerfInfo/TimerDPC": lambda: ("deferred", "TimerDPC"),
        "PerfInfo/ThreadDPC": lambda: ("deferred", "ThreadDPC"),
        "TcpIp/SendIPV4": lambda: (fields["PID"], "Send"),
        "TcpIp/RecvIPV4": lambda: (fields["PID"], "Recv"),
        "PageFault/VirtualFree": lambda: (thread, "VirtualFree"),
    }.get(name, lambda: None)()


class Counts(ToolTest):
    work = ""  # the program's path

    def setUp(self):
        super().setUp()
        self.trace = os.path.join(self.folder, "k.etl")
        if shutil.which("perf") is None:
            self.skipTest("there is no perf")
        try:
            check = subprocess.run([*self.perf("check.data", ("sched:sched_switch",), "-a"),
                                    "true"],
                                   capture_output=True, check=False, timeout=60)
        except OSError as error:
            self.skipTest(f"perf does not run here: {error}")
        if check.returncode != 0:
            self.skip_since(f"perf cannot record here: {check.stderr.decode()}")

    def data(self, name):
        return os.path.join(self.folder, name)

    def perf(self, name, tracepoints, *options):
        """The command that records those that are there, and runs what is put behind it."""
        there = [event for event in tracepoints
                 if os.path.exists("/sys/kernel/tracing/events/" + event.replace(":", "/"))]
        events = [part for event in there for part in ("-e", event)]
        return ["perf", "record", "-B", "-N", "-m", "8M", "-k", "CLOCK_MONOTONIC_RAW", *options,
                *events, "-o", self.data(name), "--"]

    def record(self):
        """All at once: what was done, and what perf shows of it. Why not, where one of them lost
        something."""
        run = subprocess.run([self.etwas, "record", "-f", "--kernel", FLAGS, "-o", self.trace, "--",
                              *self.perf("processors.data", OF_PROCESSORS, "-a"),
                              *self.perf("threads.data", OF_THREADS), self.work, str(COUNT)],
                             capture_output=True, check=False, timeout=100)
        if run.returncode == FAILED and b"cannot record" in run.stderr:
            self.skip_since(run.stderr.decode())
        if run.returncode != 0 or b"assertion failed" in run.stderr:
            return None, None, f"perf fails here: {run.stderr.decode()[-500:]}"
        lines = []
        for name in ("processors.data", "threads.data"):
            shown = subprocess.run(["perf", "script", "-i", self.data(name), "--ns",
                                    "--show-lost-events", "-F", "tid,time,event,trace"],
                                   capture_output=True, check=False, timeout=100)
            lines += shown.stdout.decode(errors="replace").splitlines()
            if shown.returncode != 0:
                return None, None, f"perf fails here: {shown.stderr.decode()[-500:]}"
        if any("PERF_RECORD_LOST" in line for line in lines):
            return None, None, "perf lost events"
        return Work(*map(int, run.stdout.split())), lines, None

    def read_perf(self, lines, work):
        seen, threads = Seen(work), {work.process}
        for line in lines:
            found = LINE.match(line)
            if not found:
                continue
            thread, when = int(found[1]), int(found[2]) * 1_000_000_000 + int(found[3])
            key = perf_key(found[4], thread, found[5])
            if key is not None:
                seen.add(when, key)
            if found[4] == "sched:sched_process_fork" and thread in threads:
                threads.add(value(found[5], "child_pid"))
        return seen, threads

    def read_etwas(self, work):
        seen = Seen(work)
        shown, _ = self.run_any("dump", "--json", "--times", "qpc", self.trace)
        for line in shown.splitlines():
            event = json.loads(line)
            key = etwas_key(event) if "fields" in event else None
            if key is not None:
                seen.add(event["qpc_time"], key)
        return seen

    def lost_kinds(self):
        """Those of which etwas has not all, as it says."""
        session, = (json.loads(line) for line in self.run_any("stat", "--prove", "--json",
                                                              self.trace)[0].splitlines())
        lost = [source["source"] for source in session["sources"]
                if source["lost_no_room"] + source["lost_unread"] + source["lost_not_handed"] != 0]
        return {kind for kind, tracepoint in KINDS.items()
                if any(name.startswith(tracepoint) for name in lost)}

    def compare(self, work, lines):
        """{kind: {whose: (perf's, etwas's)}}, what differs of each kind; and the kinds that are not
        to be judged."""
        perf, threads = self.read_perf(lines, work)
        etwas = self.read_etwas(work)
        differ, excused = collections.defaultdict(dict), self.lost_kinds()
        for key in set(perf.at_most) | set(etwas.at_most):
            whose, what = key
            kind = whose if whose in KINDS else what if what in KINDS else whose
            # perf leaves a thread that ends before it wakes its parent, and before its last
            # switches.
            lasting = {work.process} if kind in ("CSwitch", "ReadyThread") else threads
            if not isinstance(whose, str) and whose not in lasting:
                continue
            if whose in ("Connect", "Accept") and what != work.port:
                continue  # of other tests that run meanwhile
            differ[kind].update({})
            if perf.surely[key] > etwas.at_most[key] or etwas.surely[key] > perf.at_most[key]:
                differ[kind][key] = perf.surely[key], etwas.surely[key]
            if kind in OF_INTERRUPTS and etwas.surely[key] > perf.at_most[key]:
                excused.add(kind)
        self.check_known(work, perf)
        return differ, excused

    def check_known(self, work, seen):
        """What was done is what perf has seen."""
        for key, count in (((work.process, "exec"), 0), (("Connect", work.port), COUNT),
                           (("Accept", work.port), COUNT),
                           ((work.process, "Thread/Start"), COUNT + 1),
                           ((work.process, "Send"), COUNT)):
            self.assertEqual(seen.surely[key], count, key)
        self.assertGreaterEqual(seen.surely[work.process, "CSwitch"], COUNT)
        self.assertGreaterEqual(seen.surely[work.process, "SysClEnter"], 7 * COUNT)

    def test_perf_and_etwas_count_the_same(self):
        compared, left = set(), {}
        for _ in range(ATTEMPTS):
            work, lines, why_not = self.record()
            if why_not is not None:
                continue
            differ, excused = self.compare(work, lines)
            for kind, keys in differ.items():
                if not keys:
                    compared.add(kind)
                elif kind not in excused:
                    self.fail(f"{kind} of {work}: perf's and etwas's counts: {keys}")
            left = differ.keys() - compared
            if compared and not left:
                break
        if not compared:
            self.skipTest(why_not)
        print("the same:", *sorted(compared), "- not to be known on this machine, as it is now:",
              *sorted(left or "-"))
        # x86 has it
        missing = set() if os.path.exists("/sys/kernel/tracing/events/exceptions") else {
            "PageFault"}
        self.assertLessEqual(set(KINDS) - OF_INTERRUPTS - missing, compared | left)


if __name__ == "__main__":
    Counts.work = sys.argv.pop(2)
    main()
