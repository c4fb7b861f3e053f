/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench: takes Google Benchmark's options. report.py runs it and prints the table.
 */
#include "rows.h"
#include "shim/bench.h"

int main(int argc, char **argv)
{
    bench_register_floors();
    bench_register_instances();
    bench_register_gates();
    return bench_run(argc, argv);
}
