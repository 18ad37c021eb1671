/* SPDX-License-Identifier: MIT */
/* Does one operation as often as it is told, for callgrind to count: counts OPERATION TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

int main(int argc, char **argv)
{
    if (argc != 3 || ops_begin() != 0) {
        (void)fprintf(stderr, "usage: counts OPERATION TIMES\n");
        return 1;
    }
    for (const op *o = ops; o->name; o++)
        if (strcmp(o->name, argv[1]) == 0) {
            o->run(strtoull(argv[2], NULL, 10));
            return 0;
        }
    (void)fprintf(stderr, "counts: no operation is called %s\n", argv[1]);
    return 1;
}
