/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Names of the numbers and bits in the kernel's events. */
#include "decode/builtin.h"

const struct etwas_builtin_map etwas_kernel_maps[] = {
    {"ThreadState", false,
     "0 Initialized, 1 Ready, 2 Running, 3 Standby, 4 Terminated, 5 Waiting, 6 Transition, "
     "7 DeferredReady"},
    {"WaitMode", false, "0 KernelMode, 1 UserMode"},
    {"WaitReason", false,
     "0 Executive, 1 FreePage, 2 PageIn, 3 PoolAllocation, 4 DelayExecution, 5 Suspended, "
     "6 UserRequest, 7 WrExecutive, 8 WrFreePage, 9 WrPageIn, 10 WrPoolAllocation, "
     "11 WrDelayExecution, 12 WrSuspended, 13 WrUserRequest, 14 WrEventPair, 15 WrQueue, "
     "16 WrLpcReceive, 17 WrLpcReply, 18 WrVirtualMemory, 19 WrPageOut, 20 WrRendezvous, "
     "21 WrKeyedEvent, 22 WrTerminated, 23 WrProcessInSwap, 24 WrCpuRateControl, "
     "25 WrCalloutStack, 26 WrKernel, 27 WrResource, 28 WrPushLock, 29 WrMutex, "
     "30 WrQuantumEnd, 31 WrDispatchInt, 32 WrPreempted, 33 WrYieldExecution, 34 WrFastMutex, "
     "35 WrGuardedMutex, 36 WrRundown"},
    {"AdjustReason", false, "0 None, 1 Increment, 2 Boost"},
    {"ReadyFlags", true,
     "1 ReadiedFromDpc, 2 KernelStackSwappedOut, 4 ProcessSwappedOut, 8 DirectSwitchAttempt"},
    {"ProcessFlags", true,
     "1 ApplicationId, 2 Wow64, 4 Protected, 8 Packaged, 16777216 Exec, "
     "33554432 NoCommandLine, 67108864 NoExitStatus, 134217728 EndNotSeen, "
     "268435456 CommandLineFromProc, 536870912 CommandLineCut"},
    {"SampleFlags", true, "1 Dpc, 2 Isr"}, /* above them a priority */
    {"ProfileSource", false, "0 Timer"},
    {"AllocationFlags", true, "4096 Commit, 8192 Reserve, 16384 Decommit, 32768 Release"},
    {"SoftInterrupt", false,
     "0 HI, 1 TIMER, 2 NET_TX, 3 NET_RX, 4 BLOCK, 5 IRQ_POLL, 6 TASKLET, 7 SCHED, 8 HRTIMER, 9 "
     "RCU"},
    {"SystemCall", false, etwas_system_call_names},
    {"DriveType", false, "1 Partition, 2 Volume, 3 ExtendedPartition"},
};
const size_t etwas_kernel_map_count = sizeof etwas_kernel_maps / sizeof etwas_kernel_maps[0];
