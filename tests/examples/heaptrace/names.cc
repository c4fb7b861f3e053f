/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A program whose functions have names of C++; one leaks 77 bytes. */

#include <cstddef>
#include <cstdlib>

namespace shop
{

template <typename Number> struct order {
    void *place(Number bytes, const char *);
};

template <typename Number> void *order<Number>::place(Number bytes, const char *)
{
    return std::malloc(bytes);
}

} // namespace shop

int main()
{
    shop::order<std::size_t> order;
    void *volatile kept = order.place(77, "");

    return kept == nullptr;
}
