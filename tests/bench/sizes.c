/* SPDX-License-Identifier: MIT */
/* What the cases ask for, and the memory that they carve it from. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

void bench_sizes(size_t *sizes, size_t count, size_t least, size_t most, uint64_t seed)
{
    const double octaves = log2((double)most / (double)least);
    for (size_t i = 0; i < count; i++)
        sizes[i] = (size_t)((double)least * exp2(octaves * (double)random_unit(&seed)));
}

char *bench_slab(size_t nbytes)
{
    const size_t page = 4096;
    char *const slab = (char *)aligned_alloc(page, (nbytes + page - 1) / page * page);
    if (!slab)
        bench_die("slab", "the system refused its memory");
    memset(slab, 1, nbytes);
    return slab;
}
