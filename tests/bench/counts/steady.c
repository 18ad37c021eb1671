/* SPDX-License-Identifier: MIT */
/* Once warm, the operations neither fault a page in nor allocate from the heap: both are counted. */
#include <stdio.h>
#include <sys/resource.h>

#include "heap_count.h"
#include "ops.h"

enum { TIMES = 1000 };

static long faults(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(void)
{
    int failures = 0;
    if (!heap_count_works()) {
        (void)fprintf(stderr, "steady: heap allocations cannot be counted here\n");
        return 1;
    }
    if (ops_begin() != 0)
        return 1;
    for (const op *o = ops; o->name; o++) {
        o->run(TIMES);
        heap_count_begin();
        const long before = faults();
        o->run(TIMES);
        const long faulted = faults() - before;
        const size_t allocated = heap_count_end();
        if (faulted != 0 || allocated != 0) {
            (void)fprintf(stderr, "%s, %d times: %ld page faults, %zu heap allocations\n", o->name,
                          TIMES, faulted, allocated);
            failures++;
        }
    }
    return failures != 0;
}
