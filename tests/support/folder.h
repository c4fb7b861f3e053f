/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A temporary folder for each test, removed with everything in it. */
#ifndef ETWAS_SUPPORT_FOLDER_H
#define ETWAS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * cmocka's setup and teardown of a test: cmocka_unit_test_setup_teardown(test, folder_setup,
 * folder_teardown). The teardown also forgets every writer (writer.h) and lets go of every held
 * thread (hold.h).
 */
int folder_setup(void **state);
int folder_teardown(void **state);

/*
 * A group setup: the folders are in memory, where there is a place, for tests that make thousands
 * of files.
 */
int folder_in_memory(void **state);

/* What a teardown does first, if anything: hold.c lets go of threads, once one was held. */
extern void (*folder_let_go)(void);

/* The path of `name` in the folder; valid until the teardown. */
const char *folder_path(const char *name);

/* Removes a folder with everything in it; else -1. */
int folder_remove(const char *path);

/*
 * Returns how many files the folder has, without those that begin with a dot; 0 if there is no such
 * folder. A child of a fork may call it.
 */
uint32_t folder_count_shown(const char *path);

/* A test with a folder of its own. */
#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

/* Whether this process has the file open. Allocates nothing: for a child of a fork. */
bool has_open(const char *path);

#endif
