/* SPDX-License-Identifier: MIT */
/*
 * A space of one's own (fixed_space.h) works wherever a space does: it fills bundles, is bound as
 * the ambient space, carries frames, and gives arenas their slab.
 */
#include <pol/pol.h>

#include <stdio.h>

#include "fixed_space.h"

struct tables {
    pol_array sine;  /* (256) f64 */
    pol_array index; /* (100) u8 */
};

static pol_status run(struct fixed_space *f)
{
    struct tables t;

    /* A bundle: all of it or nothing. */
    POL_TRY(pol_alloc(
        &f->space, &t,
        (struct tables){.sine = pol_undef(POL_F64, 256), .index = pol_undef(POL_U8, 100)}));
    printf("two tables:  %4zu of %zu bytes used\n", f->used, f->nbytes);

    /* A request that does not fit changes nothing. */
    const size_t before = f->used;
    pol_array big;
    if (pol_alloc(&f->space, &big, pol_undef(POL_F64, 1000)) != POL_ECEILING || f->used != before)
        return pol_fail(POL_EUSER, "a request that does not fit was not refused");
    printf("too large:   %4zu bytes used; %s\n", f->used, pol_last_error());

    /* An arena over a part of it can do what this space cannot: take back. */
    pol_arena arena;
    POL_TRY(pol_arena_open(&arena, &f->space, 1024, 64));
    POL_WITHSPACE(&arena) {
        for (int step = 0; step < 100; step++) {
            POL_SCRATCHSPACE(frame, pol_ambientspace()) {
                float *tmp = pol_new(frame, float, 200);
                if (!tmp)
                    return POL_ECEILING;
                tmp[0] = tmp[199] = (float)step;
            }
        }
    }
    printf("an arena:    %4zu bytes used after 100 frames of %zu\n", f->used,
           pol_watermark(&arena));
    return pol_arena_close(&arena);
}

int main(void)
{
    static _Alignas(256) unsigned char buffer[4096];
    struct fixed_space f;

    fixed_space_init(&f, buffer, sizeof buffer);
    if (run(&f) == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}
