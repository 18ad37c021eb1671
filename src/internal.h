/* SPDX-License-Identifier: MIT */
#ifndef POL_INTERNAL_H
#define POL_INTERNAL_H

/*
 * What the sources share and no program sees.
 *
 * A thread's state is one small block: its ambient space, its open frames and its last error. A
 * frame that longjmp skipped lies on a dead part of the stack and must not be read, so whatever is
 * needed to close it lies elsewhere: a level (level.c) says that it is open, where it began and
 * whose it is, and what it handed out from other spaces is in records on the heap. A level lies in
 * the frame's arena, in the thread's block, or in a record of its own.
 */

#include <pol/pol.h>

#define POL_LEVELS_ 4         /* open frames elsewhere than on arenas, before the heap is asked */
#define POL_TEXT_MAX_ 256     /* bytes of the last error, the terminating 0 included */
#define POL_DESCRIBE_MAX_ 128 /* bytes of a description in words */

typedef struct pol_level_ pol_level;

typedef enum pol_record_kind {
    POL_RECORD_ARRAY_,
    POL_RECORD_MARK_,
    POL_RECORD_FRAME_
} pol_record_kind;

/* What a frame has to undo at its end. */
typedef struct pol_record_ {
    struct pol_record_ *older;
    pol_space *root;        /* whom to give it back to */
    const pol_level *owner; /* the frame that it belongs to */
    pol_record_kind kind;
    struct pol_mark mark; /* where the frame began, on a root with marks */
    pol_array array;      /* what the frame handed out */
    pol_level level;      /* of a frame for which there is no room elsewhere */
    const pol_frame *top; /* the innermost one on its arena before */
} pol_record;

typedef struct pol_thread_ {
    struct pol_here_ here;         /* first: what inlined code knows */
    pol_record *records;           /* what open frames recorded, newest first */
    uint32_t failures;             /* failures reported so far */
    uint32_t used;                 /* which of the levels are, a bit each */
    pol_level levels[POL_LEVELS_]; /* of frames elsewhere than on arenas */
    char text[POL_TEXT_MAX_];
} pol_thread;

POL_STATIC_ASSERT_(sizeof(pol_thread) <= 512, "a program's thread-local memory is scarce");
POL_STATIC_ASSERT_(sizeof(void *) > 8 || sizeof(pol_arena) <= 448,
                   "pol_verb_nbytes has an arena on its stack");

/* thread.c */
#if defined(__GLIBC__) && POL_GNU_
#define POL_TLS_ __attribute__((tls_model("initial-exec"))) /* fits what glibc keeps for dlopen */
#else
#define POL_TLS_
#endif
extern _Thread_local pol_thread pol_self_ POL_TLS_;
static inline pol_thread *pol_thread_self_(void)
{
    return &pol_self_;
}

/* status.c */
POL_COLD void pol_misuse_(pol_status status);
/* A thread's last error, kept while what it leads to is undone. */
typedef struct pol_kept_text {
    char text[POL_TEXT_MAX_];
    uint32_t failures;
} pol_kept_text;
void pol_text_keep_(pol_kept_text *kept);
/* Makes it the last error again. A failure met meanwhile, which no return value carries, goes to
   the handler first; POL_OK: there was none. */
void pol_text_restore_(const pol_kept_text *kept, pol_status met);

/* Failures of things that are done all the same, one after the other. The first is what will be
   answered; of the others, which no return value carries, the handler is told at once. */
typedef struct pol_failures {
    pol_status first;
    pol_kept_text kept; /* its text */
} pol_failures;
void pol_failures_add_(pol_failures *met, pol_status status);
/* Returns the first, and its text is the last error. */
pol_status pol_failures_first_(const pol_failures *met);

/* undef.c */
/* The bits of an element. */
static inline uint64_t pol_bits_(const pol_type *type)
{
    return type->code == POL_CODE_OPAQUE ? (uint64_t)type->size * 8
                                         : (uint64_t)type->bits * type->lanes;
}
/* Adds one checked size to another: POL_EOVERFLOW past PTRDIFF_MAX. */
pol_status pol_add_nbytes_(size_t *sum, size_t nbytes);
/* Writes a description in words, "f32 [2, 3]", and returns text. */
const char *pol_describe_(char text[POL_DESCRIBE_MAX_], const pol_array *a);
/* Makes an array a description again. */
static inline void pol_strip_(pol_array *a)
{
    a->data = NULL;
    a->home = NULL;
    a->flags = 0;
}

/* space.c */
/* Whether a space, which may be NULL, can be marked and taken back. */
bool pol_space_has_marks_(const pol_space *space);
/* Refuses NULL and a table without alloc. */
pol_status pol_space_check_(const pol_space *space);
/* Asks a checked space for the memory of one description, and holds it to its word. */
pol_status pol_place_(pol_space *space, pol_array *a, size_t nbytes);
/* Takes a space with marks back, and sees to it that a failure has a text. */
pol_status pol_space_retract_(pol_space *space, struct pol_mark mark);

/* A state that a space can be taken back to when a call fails half-way. */
typedef struct pol_undo {
    pol_arena *arena;
    size_t offset, peak, strictest;
    pol_space *marked;
    struct pol_mark mark;
    pol_record *records;
} pol_undo;
void pol_undo_begin_(pol_undo *undo, pol_space *space);
/* Takes the space back, releases those of the arrays that carry the flag and are owned, in reverse
   order, and makes them descriptions. The text of the failure that it is called for stays. */
void pol_undo_all_(const pol_undo *undo, pol_space *space, pol_array *first, size_t count,
                   unsigned flag);

/* The arena that a space is or that a frame carves from, if the asker is the innermost on it; else
   NULL. */
extern const pol_space_ops pol_arena_ops_;
extern const pol_space_ops pol_frame_ops_;
static inline pol_arena *pol_asked_arena_(pol_space *space)
{
    if (!space)
        return NULL;
    if (space->ops == &pol_arena_ops_)
        return pol_arena_asks_((pol_arena *)space);
    return space->ops == &pol_frame_ops_ ? pol_frame_asks_((const pol_frame *)space) : NULL;
}
/* pol_alloc_arrays() where the fast way is none. */
pol_status pol_alloc_checked_(pol_space *space, pol_array *first, size_t count);
static inline pol_status pol_alloc_any_(pol_space *space, pol_array *first, size_t count)
{
    pol_arena *const a = pol_asked_arena_(space);
    if (POL_LIKELY_(count == 1 && a && first && pol_array_carve_(a, first)))
        return POL_OK;
    return pol_alloc_checked_(space, first, count);
}

/* similar.c */
/* The home of a measuring arena's arrays: more of that kind are addresses nobody may follow. */
pol_space *pol_measured_(void);

/* arena.c */
bool pol_is_power_of_two_(size_t n);
/* The arena that a space is or that a frame carves from; NULL for any other space. */
pol_arena *pol_arena_of_(pol_space *space);

/* carve.c */
/* The bytes from an address to the next multiple of a power of two. */
size_t pol_padding_(uintptr_t address, size_t alignment);
/* Sets the offset, and with it where the next carve starts. */
static inline void pol_arena_set_(pol_arena *a, size_t offset)
{
    a->offset_ = offset;
    a->next_ = ((offset - 1) | a->mask_) + 1;
}
/* Sets the offset back, and keeps the watermark. */
static inline void pol_arena_fall_(pol_arena *a, size_t offset)
{
    if (a->offset_ > a->peak_)
        a->peak_ = a->offset_;
    pol_arena_set_(a, offset);
}
/* Carves on behalf of a frame, or of the arena itself (NULL). */
pol_status pol_arena_carve_(pol_arena *a, const pol_frame *asker, pol_array *array, size_t nbytes);
/* Rewrites the text of a refused carve: what all of it needs, counted from the given offset. */
POL_COLD pol_status pol_arena_full_(const pol_arena *a, size_t offset, const pol_array *first,
                                    size_t count);

/* level.c */
/* A frame's level, if it is open on the thread; else NULL. */
pol_level *pol_level_of_(const pol_thread *t, const pol_frame *f);
/* The level of the innermost frame on the arena, or the arena's own. */
const pol_level *pol_arena_level_(const pol_arena *a);
/* How many frames are open on the arena. */
unsigned pol_arena_nframes_(const pol_arena *a);
/* Drops frames that pol_withspace_clear() has forgotten. */
void pol_arena_settle_(pol_arena *a);
/* Takes the levels of an arena that is about to be made anew out of the thread's chain. */
void pol_arena_unlink_(const pol_arena *a);
/* Gives a frame its level, and a record where it needs one; false: the heap refused a record. */
bool pol_level_enter_(pol_thread *t, pol_frame *f);
/* Closes the frames above a level, NULL for all of the thread's, innermost first. Returns the first
   failure of a retract; `*above`: how many there were. */
pol_status pol_levels_close_above_(pol_thread *t, const pol_level *level, unsigned *above);
/* Closes the innermost frame. */
pol_status pol_level_close_(pol_thread *t);

/* frame.c */
/* The era of a frame without a level, whose record was refused. It hands out nothing, and is open
   as long as it is the ambient space. */
#define POL_INERT_ SIZE_MAX
/* Whether a frame is open: on this thread as its levels say, on another as it says itself. */
bool pol_frame_is_open_(const pol_thread *t, const pol_frame *f);
extern pol_space pol_closed_space_;     /* the root of a frame on a frame that is not open */
extern pol_space pol_unrecorded_space_; /* the root of a frame whose record was refused */
/* The frame that a space is; NULL for any other space. */
static inline pol_frame *pol_frame_of_(pol_space *space)
{
    return space && space->ops == &pol_frame_ops_ ? (pol_frame *)space : NULL;
}
/* The space beneath all frames. */
pol_space *pol_frame_root_(const pol_frame *f);

/* scratchspace.c */
/* pol_frame_begin() and pol_frame_end() where there is no fast way. */
void pol_frame_begin_checked_(pol_frame *f, pol_space *space);
pol_status pol_frame_end_checked_(pol_frame *f);
static inline void pol_frame_begin_any_(pol_frame *f, pol_space *space)
{
    pol_arena *const a = f ? pol_asked_arena_(space) : NULL;
    if (POL_LIKELY_(a && pol_frame_enter_(f, a, &pol_self_.here)))
        return;
    pol_frame_begin_checked_(f, space);
}
static inline pol_status pol_frame_end_any_(pol_frame *f)
{
    struct pol_here_ *const t = &pol_self_.here;
    if (POL_LIKELY_(f && f->thread_ == t && pol_frame_leave_(f, t)))
        return POL_OK;
    return pol_frame_end_checked_(f);
}
/* Closes a frame, if it is open, on the way out of a failure, whose text stays. */
void pol_frame_unwind_(pol_frame *f);

/* record.c */
/* Adds a record to a frame; NULL if the system refuses memory. */
pol_record *pol_record_push_(pol_thread *t, pol_space *root, const pol_level *owner);
/* Takes a record back without undoing it. */
void pol_record_drop_(pol_thread *t, pol_record *record);
/* The innermost frame's mark on a space with marks of its own; NULL if no frame is open on it. */
const pol_record *pol_records_mark_(const pol_thread *t, const pol_space *root);
/* Undoes a frame's records newer than `until`, newest first: all of them. Returns the first failure
   of a retract, whose text is then the last error. */
pol_status pol_records_undo_(pol_thread *t, const pol_record *until, const pol_level *owner);
/* Forgets the thread's records without touching what they speak of. */
void pol_records_forget_(pol_thread *t);

#endif /* POL_INTERNAL_H */
