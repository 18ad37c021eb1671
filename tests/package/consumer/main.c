/* Prints the version of the libpol that it runs with, once an arena has given it an array. */
#include <pol/pol.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    static unsigned char slab[4096];
    pol_arena arena;
    pol_array x;

    if (pol_arena_init(&arena, slab, sizeof slab, 0) != POL_OK ||
        pol_alloc(&arena, &x, pol_undef(POL_F32, 4, 8)) != POL_OK || x.data == NULL) {
        fprintf(stderr, "%s\n", pol_last_error());
        return 1;
    }
    puts(pol_version());
    return strcmp(pol_version(), POL_VERSION_STRING) != 0;
}
