/* SPDX-License-Identifier: MIT */

/* Trap 31, T4: a program that defines the words of the field for itself links with libpol, with the
   static library too: no symbol of its own but pol_*. Each module is used, so that each of its
   objects is linked. */

#include <pol/pol.h>

#define MINE(name)                                                                                 \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 1;                                                                                  \
    }                                                                                              \
    _Static_assert(1, "takes the semicolon")
MINE(arena_alloc);
MINE(arena_init);
MINE(arena_open);
MINE(arena_close);
MINE(arena_reset);
MINE(frame_begin);
MINE(frame_end);
MINE(frame_alloc);
MINE(frame_ops);
MINE(mark);
MINE(retract);
MINE(reset);
MINE(push);
MINE(pop);
MINE(release);
MINE(heap);
MINE(pages);
MINE(similar);
MINE(space);
MINE(space_alloc);
MINE(scope);
MINE(ambient);
MINE(thread);
MINE(record);
MINE(records);
MINE(carve);
MINE(undo);
MINE(fail);
MINE(status);
MINE(misuse);
MINE(verb_call);
MINE(call);
MINE(shadow);
MINE(undef);
MINE(describe);
MINE(nbytes);
MINE(align_up);
MINE(new_);
MINE(measure);
MINE(version);

/* Nor does POL_ALLOCATING hide a variable of the program's, which -Wshadow would say. */
int frame, verb, override, scratch;

struct same_args {
    pol_array x;
};
struct same_outputs {
    pol_array y;
};
static struct same_outputs same_outputs(const struct same_args *a)
{
    return (struct same_outputs){pol_undef_like(&a->x)};
}
static pol_status same(const struct same_outputs *out, const struct same_args *a)
{
    return out->y.data && a ? POL_OK : POL_EUSER;
}
POL_ALLOCATING(same, outputs);

static pol_status use_all(void)
{
    pol_arena arena;
    pol_array a;
    const struct same_args args = {pol_undef(POL_F32, 3)};
    struct same_outputs out;
    POL_TRY(pol_arena_open(&arena, pol_similar(NULL), 4096, 0));
    POL_WITHSPACE(&arena) {
        POL_SCRATCHSPACE(in_frame, pol_ambientspace()) {
            POL_TRY(pol_alloc(in_frame, &a, pol_undef(POL_F32, 3)));
            POL_TRY(pol_call(same, in_frame, &args, &out));
        }
    }
    POL_SCRATCHSPACE(recording, pol_pages()) {
        POL_TRY(pol_alloc(recording, &a, pol_undef(POL_F32, 3)));
    }
    return pol_arena_close(&arena);
}

int main(void)
{
    return use_all() != POL_OK || frame || verb || override || scratch || !*pol_version() ||
           !(arena_alloc() && frame_begin() && mark() && reset() && push());
}
