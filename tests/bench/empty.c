/* SPDX-License-Identifier: MIT */
/* A call into a shared library that does nothing: what any call of one costs. */
#include "bench.h"

__attribute__((visibility("default"))) int bench_empty_call(void *space, void *arrays, size_t count)
{
    (void)space;
    (void)arrays;
    (void)count;
    return 0;
}
