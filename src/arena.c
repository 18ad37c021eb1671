/* SPDX-License-Identifier: MIT */

/*
 * The bump and its marks.
 *
 * A carve advances an offset (carve.c); everything that takes memory back sets it back. The
 * watermark is kept where the offset falls and looked up where it is asked for, so a call that
 * fails half-way can put the offset back without the attempt having been seen.
 */

#include "internal.h"

#include <stdatomic.h>
#include <string.h>

#define DEFAULT_ALIGNMENT 256
#define LINE 64 /* bytes of a cache line, which no two workers' slabs share */

static pol_status arena_alloc(pol_space *self, pol_array *a, size_t nbytes);
static struct pol_mark arena_mark(pol_space *self);
static pol_status arena_retract(pol_space *self, struct pol_mark mark);
static pol_device arena_device(const pol_space *self);

const pol_space_ops pol_arena_ops_ = {
    .name = "arena",
    .alloc = arena_alloc,
    .mark = arena_mark,
    .retract = arena_retract,
    .device = arena_device,
};

bool pol_is_power_of_two_(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static bool is_open(const pol_arena *a)
{
    return a && a->capacity_ != 0;
}

static pol_status not_open(const char *function)
{
    return pol_fail(POL_EINVAL, "%s: the arena is NULL or not open; open it first", function);
}

static pol_status check_alignment(size_t *alignment)
{
    if (*alignment == 0)
        *alignment = DEFAULT_ALIGNMENT;
    if (!pol_is_power_of_two_(*alignment))
        return pol_fail(POL_EINVAL, "arena: alignment %zu is no power of two; 0 means %d",
                        *alignment, DEFAULT_ALIGNMENT);
    return POL_OK;
}

static size_t next_id(void)
{
    static atomic_size_t ids;
    return atomic_fetch_add_explicit(&ids, 1, memory_order_relaxed) + 1;
}

/* What inlined code adds to the thread pointer to find the thread's block. */
static ptrdiff_t block_distance(void)
{
#if POL_INLINES_FRAMES_
    return (char *)pol_thread_self_() - (char *)__builtin_thread_pointer();
#else
    return 0;
#endif
}

static void start(pol_arena *a, char *origin, size_t capacity, size_t alignment)
{
    pol_arena_unlink_(a);
    memset(a, 0, sizeof *a);
    a->space.ops = &pol_arena_ops_;
    a->origin_ = origin;
    a->capacity_ = capacity;
    a->limit_ = alignment < POL_FAST_ALIGN_ ? 0 : capacity;
    a->mask_ = alignment - 1;
    a->strictest_ = alignment;
    a->id_ = next_id();
    a->frame_ops_ = &pol_frame_ops_;
    a->tls_ = block_distance();
}

pol_status pol_arena_init(pol_arena *a, void *base, size_t nbytes, size_t alignment)
{
    if (!a || !base)
        return pol_fail(POL_EINVAL, "pol_arena_init: the %s is NULL", a ? "base" : "arena");
    POL_TRY(check_alignment(&alignment));
    if (nbytes > (size_t)PTRDIFF_MAX || nbytes > UINTPTR_MAX - (uintptr_t)base)
        return pol_fail(POL_EOVERFLOW,
                        "pol_arena_init: %zu bytes at %p reach past the address space", nbytes,
                        base);
    const size_t pad = pol_padding_((uintptr_t)base, alignment);
    if (pad >= nbytes)
        return pol_fail(POL_ECEILING,
                        "arena: have %zu bytes, need %zu to hold one byte aligned to %zu; a slab "
                        "of %zu bytes is enough anywhere",
                        nbytes, pad + 1, alignment, alignment);
    start(a, (char *)base + pad, nbytes - pad, alignment);
    return POL_OK;
}

pol_status pol_arena_over(pol_arena *a, const pol_array *slab, size_t alignment)
{
    size_t nbytes;
    if (!a || !pol_is_array(slab))
        return pol_fail(POL_EINVAL, "pol_arena_over: the %s",
                        a ? "slab has no memory; materialize it first" : "arena is NULL");
    POL_TRY(pol_nbytes(slab, &nbytes));
    POL_TRY(pol_arena_init(a, slab->data, nbytes, alignment));
    a->home_ = slab->home;
    return POL_OK;
}

/* Describes a slab in which nbytes can start at a multiple of `alignment`. On an arena that aligns
   less, the slack is part of the slab, so that what it spends does not depend on its base. */
static pol_status describe_slab(pol_space *space, size_t nbytes, size_t alignment, pol_array *slab)
{
    const pol_arena *const parent = pol_arena_of_(space);
    const size_t most = parent ? parent->mask_ + 1 : (size_t)1 << 31;
    const size_t given = alignment < most ? alignment : most;
    if (nbytes > (size_t)PTRDIFF_MAX || alignment - given > (size_t)PTRDIFF_MAX - nbytes)
        return pol_fail(POL_EOVERFLOW,
                        "pol_arena_open: %zu bytes aligned to %zu are more than any address space "
                        "holds; ask for less",
                        nbytes, alignment);
    *slab = pol_undef(POL_U8, (int64_t)(nbytes + (alignment - given)));
    slab->type.align = parent ? 1 : (uint32_t)given;
    return POL_OK;
}

pol_status(pol_arena_open)(pol_arena *a, pol_space *space, size_t nbytes, size_t alignment)
{
    pol_array slab;
    pol_undo undo;
    if (!a)
        return pol_fail(POL_EINVAL, "pol_arena_open: the arena is NULL");
    POL_TRY(pol_space_check_(space));
    POL_TRY(check_alignment(&alignment));
    if (nbytes == 0)
        return pol_fail(POL_ECEILING, "pol_arena_open: have 0 bytes, need 1 at least; ask for the "
                                      "budget of a dry run");
    const size_t from = alignment > LINE ? alignment : LINE;
    POL_TRY(describe_slab(space, nbytes, from, &slab));
    pol_undo_begin_(&undo, space);
    POL_TRY(pol_alloc_arrays(space, &slab, 1));
    char *const base = (char *)slab.data + pol_padding_((uintptr_t)slab.data, from);
    const pol_status status = pol_arena_init(a, base, nbytes, alignment);
    if (status != POL_OK) {
        pol_undo_all_(&undo, space, &slab, 1, POL_FLAG_OWNED_);
        return status;
    }
    a->home_ = slab.home;
    a->base_ = slab.data;
    a->nbytes_ = (size_t)slab.dims[0];
    a->align_ = slab.type.align;
    a->owned_ = slab.flags & POL_FLAG_OWNED_;
    return POL_OK;
}

pol_status pol_arena_measure(pol_arena *a, size_t alignment)
{
    if (!a)
        return pol_fail(POL_EINVAL, "pol_arena_measure: the arena is NULL");
    POL_TRY(check_alignment(&alignment));
    /* An origin that every element's alignment divides, where no memory can be. */
    const size_t quarter = (size_t)1 << (sizeof(size_t) * 8 - 2);
    start(a, (char *)(uintptr_t)(alignment > quarter ? alignment : quarter), (size_t)PTRDIFF_MAX,
          alignment);
    a->home_ = pol_measured_();
    return POL_OK;
}

/* Gives back the slab that the arena drew, if it is to be given back. */
static void release_slab(const pol_arena *a)
{
    if (!a->owned_)
        return;
    pol_array slab = pol_undef(POL_U8, (int64_t)a->nbytes_);
    slab.type.align = a->align_;
    slab.data = a->base_;
    slab.home = a->home_;
    slab.flags = POL_FLAG_OWNED_;
    pol_release(&slab);
}

pol_status pol_arena_close(pol_arena *a)
{
    if (!is_open(a))
        return not_open("pol_arena_close");
    pol_arena_settle_(a);
    if (a->top_)
        return pol_fail(POL_EORDER,
                        "pol_arena_close: %u frames are open on the arena; end them first",
                        pol_arena_nframes_(a));
    if (pol_thread_self_()->here.ambient == &a->space)
        return pol_fail(POL_EORDER, "pol_arena_close: the arena is this thread's ambient space; "
                                    "end its POL_WITHSPACE first");
    release_slab(a);
    memset(a, 0, sizeof *a);
    return POL_OK;
}

size_t pol_arena_capacity(const pol_arena *a)
{
    return a ? a->capacity_ : 0;
}

size_t pol_arena_alignment(const pol_arena *a)
{
    return a && a->capacity_ != 0 ? a->mask_ + 1 : 0;
}

size_t pol_watermark(const pol_arena *a)
{
    if (!a)
        return 0;
    return a->offset_ > a->peak_ ? a->offset_ : a->peak_;
}

struct pol_mark pol_mark(pol_arena *a)
{
    const struct pol_mark none = {0, 0, 0};
    if (!is_open(a)) {
        (void)not_open("pol_mark");
        return none;
    }
    pol_arena_settle_(a);
    const struct pol_mark mark = {a->offset_, a->id_, a->epoch_};
    return mark;
}

pol_status pol_retract(pol_arena *a, struct pol_mark mark)
{
    if (!is_open(a))
        return not_open("pol_retract");
    pol_arena_settle_(a);
    if (mark.owner != a->id_)
        return pol_fail(
            POL_ESTALE,
            "pol_retract: the mark is not of this arena; use one that pol_mark gave for it");
    if (mark.epoch != a->epoch_)
        return pol_fail(POL_ESTALE, "pol_retract: the mark is from before a reset; take a new one");
    if (mark.offset > a->offset_)
        return pol_fail(
            POL_ESTALE,
            "pol_retract: the mark is at %zu bytes, the arena is at %zu already; take a new one",
            mark.offset, a->offset_);
    const size_t floor = pol_arena_level_(a)->at.start;
    if (mark.offset < floor)
        return pol_fail(POL_EORDER,
                        "pol_retract: the mark is at %zu bytes, beneath a frame that began at %zu; "
                        "end the frame first",
                        mark.offset, floor);
    pol_arena_fall_(a, mark.offset);
    return POL_OK;
}

pol_status pol_reset(pol_arena *a)
{
    if (!is_open(a))
        return not_open("pol_reset");
    pol_arena_settle_(a);
    if (a->top_)
        return pol_fail(POL_EORDER, "pol_reset: %u frames are open on the arena; end them first",
                        pol_arena_nframes_(a));
    pol_arena_fall_(a, 0);
    a->epoch_++;
    return POL_OK;
}

static pol_status arena_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    return pol_arena_carve_((pol_arena *)self, NULL, a, nbytes);
}

static struct pol_mark arena_mark(pol_space *self)
{
    return pol_mark((pol_arena *)self);
}

static pol_status arena_retract(pol_space *self, struct pol_mark mark)
{
    return pol_retract((pol_arena *)self, mark);
}

static pol_device arena_device(const pol_space *self)
{
    return pol_space_device(((const pol_arena *)self)->home_);
}

pol_arena *pol_arena_of_(pol_space *space)
{
    const pol_frame *const frame = pol_frame_of_(space);
    if (frame)
        return frame->thread_ ? frame->arena_ : NULL;
    return space && space->ops == &pol_arena_ops_ ? (pol_arena *)space : NULL;
}

bool(pol_is_measuring)(const pol_space *space)
{
    const pol_arena *const a = pol_arena_of_((pol_space *)(uintptr_t)space);
    const pol_frame *const f = pol_frame_of_((pol_space *)(uintptr_t)space);
    if (a)
        return a->home_ == pol_measured_();
    return (f ? pol_frame_root_(f) : space) == pol_measured_();
}
