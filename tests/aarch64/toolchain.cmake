# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Debian's cross compiler for aarch64, with its own C library, and the other libraries from the
# sysroot that cross.sh fills: ETWAS_SYSROOT.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# CMake's tests of the compiler read this file again and are given the folder.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ETWAS_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${ETWAS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# What the libraries there need themselves.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${ETWAS_SYSROOT}/lib/aarch64-linux-gnu")

# pkg-config sees the sysroot alone, and names its folders even where a native compiler would know them.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ETWAS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${ETWAS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ETWAS_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_ALLOW_SYSTEM_CFLAGS} 1)
set(ENV{PKG_CONFIG_ALLOW_SYSTEM_LIBS} 1)
