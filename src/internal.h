/* SPDX-License-Identifier: MIT */
#ifndef POL_INTERNAL_H
#define POL_INTERNAL_H

/*
 * What the sources share and no program sees.
 *
 * A thread's state is one small block: its ambient space, its open frames and its last error. A
 * frame that longjmp skipped lies on a dead part of the stack and must not be read, so whatever is
 * needed to close it lies elsewhere: which frames are open in the thread's block, where they began
 * in the arena, and what they handed out from other spaces in records on the heap. Frames nested
 * deeper than the first two have room for are recorded on the heap as well.
 */

#include <pol/pol.h>

#define POL_DEPTH_TRACKED_ 16 /* open frames whose serial a thread keeps */
#define POL_TEXT_MAX_ 256     /* bytes of the last error, the terminating 0 included */
#define POL_DESCRIBE_MAX_ 128 /* bytes of a description in words */

typedef enum pol_record_kind {
    POL_RECORD_ARRAY_,
    POL_RECORD_MARK_,
    POL_RECORD_FRAME_
} pol_record_kind;

/* What a frame has to undo at its end. */
typedef struct pol_record_ {
    struct pol_record_ *older;
    pol_space *root; /* whom to give it back to */
    uint32_t depth;  /* of the frame that it belongs to */
    pol_record_kind kind;
    uint64_t serial;      /* of the frame, if this stands for it; 0 for an array */
    struct pol_mark mark; /* where the frame began, on a root with marks */
    pol_array array;      /* what the frame handed out */
    pol_arena *arena;     /* the arena of a frame that the tables are too short for, or NULL */
    size_t start, floor;  /* and what it was when the frame began */
    uint64_t below;
    uint32_t level;
} pol_record;

typedef struct pol_thread_ {
    pol_space *ambient;                /* the innermost binding */
    pol_record *records;               /* what open frames recorded, newest first */
    uint64_t serials;                  /* the last one given */
    uint32_t depth;                    /* frames open now */
    uint32_t failures;                 /* failures reported so far */
    uint64_t open[POL_DEPTH_TRACKED_]; /* serials of the outermost open frames */
    char text[POL_TEXT_MAX_];
} pol_thread;

/* thread.c */
pol_thread *pol_thread_self_(void);
/* Whether the frame of this serial is still open on the thread. */
bool pol_thread_has_open_(const pol_thread *t, uint64_t serial);
/* Enters one more frame and returns its serial. */
uint64_t pol_thread_enter_(pol_thread *t);
/* Leaves the frames deeper than that. */
void pol_thread_leave_(pol_thread *t, uint32_t depth);

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

/* similar.c */
/* The home of a measuring arena's arrays: more of that kind are addresses nobody may follow. */
pol_space *pol_measured_(void);

/* arena.c */
bool pol_is_power_of_two_(size_t n);
/* The arena that a space is or that a frame carves from; NULL for any other space. */
pol_arena *pol_arena_of_(pol_space *space);

/* settle.c */
/* Sets the offset back, and keeps the watermark. */
void pol_arena_fall_(pol_arena *a, size_t offset);
/* Puts the arena back to what it was when a frame began on it. */
void pol_arena_leave_(pol_arena *a, size_t start, size_t floor, uint64_t below, uint32_t level);
/* Drops the frames that are no longer open on their thread. */
void pol_arena_settle_(pol_arena *a);

/* carve.c */
/* The bytes from an address to the next multiple of a power of two. */
size_t pol_padding_(uintptr_t address, size_t alignment);
/* Carves on behalf of the frame of that serial, or of the arena itself (0). */
pol_status pol_arena_carve_(pol_arena *a, uint64_t serial, pol_array *array, size_t nbytes);
/* Rewrites the text of a refused carve: what all of it needs, counted from the given offset. */
POL_COLD pol_status pol_arena_full_(const pol_arena *a, size_t offset, const pol_array *first,
                                    size_t count);

/* frame.c */
/* The serial of a frame too deep for a slot whose record was refused. The thread does not count it;
   it hands out nothing, and is open as long as it is the ambient space. */
#define POL_INERT_ UINT64_MAX
/* Whether a frame is open: on this thread as its tables say, on another as it says itself. */
bool pol_frame_is_open_(const pol_thread *t, const pol_frame *f);
extern const pol_space_ops pol_frame_ops_;
extern pol_space pol_closed_space_;     /* the root of a frame on a frame that is not open */
extern pol_space pol_unrecorded_space_; /* the root of a frame whose record was refused */
/* The frame that a space is; NULL for any other space. */
pol_frame *pol_frame_of_(pol_space *space);

/* scratchspace.c */
/* Closes a frame, if it is open, on the way out of a failure, whose text stays. */
void pol_frame_unwind_(pol_frame *f);
/* Closes the frames above a depth, as the end of an outer one would, and binds `ambient` again.
   Returns the first failure of a retract; `*above`: how many there were. */
pol_status pol_frames_close_above_(uint32_t depth, pol_space *ambient, const pol_record *records,
                                   uint32_t *above);

/* record.c */
/* Adds a record for an array; NULL if the system refuses memory. */
pol_record *pol_record_push_(pol_thread *t, pol_space *root, uint32_t depth);
/* Whether one of the records stands for the frame of this serial. */
bool pol_records_have_(const pol_thread *t, uint64_t serial);
/* Takes a record back that was not filled in. */
void pol_record_drop_(pol_thread *t, pol_record *record);
/* The innermost frame's mark on a space with marks of its own; NULL if no frame is open on it. */
const pol_record *pol_records_mark_(const pol_thread *t, const pol_space *root);
/* Undoes the records newer than `until` of frames that deep, `from` to `to`, newest first: all of
   them. Returns the first failure of a retract, whose text is then the last error. */
pol_status pol_records_undo_(pol_thread *t, const pol_record *until, uint32_t from, uint32_t to);
/* Forgets the thread's records without touching what they speak of. */
void pol_records_forget_(pol_thread *t);

#endif /* POL_INTERNAL_H */
