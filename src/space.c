/* SPDX-License-Identifier: MIT */

/*
 * The one verb, and the ambient binding.
 *
 * pol_alloc_arrays works in passes: it computes all sizes and their sum before the space is asked
 * for anything, so a bundle that cannot be is refused untouched; it asks whether the device records
 * a graph; then it places one array after the other, and takes the space back if one fails. Arrays
 * placed by the call carry a flag until its end, which tells them from those that came with data.
 */

#include "internal.h"

static const char *name_of(const pol_space *space)
{
    return space->ops && space->ops->name ? space->ops->name : "(unnamed)";
}

bool pol_space_has_marks_(const pol_space *space)
{
    return space && space->ops && space->ops->mark && space->ops->retract;
}

static bool is_capturing(const pol_space *space)
{
    return space->ops->capturing && space->ops->capturing(space);
}

pol_status pol_space_check_(const pol_space *space)
{
    if (!space)
        return pol_fail(POL_ENOAMBIENT,
                        "space: is NULL; give one, or bind one around the call by POL_WITHSPACE");
    if (!space->ops || !space->ops->alloc)
        return pol_fail(POL_EINVAL, "space %s: its table has no alloc; is it open?",
                        name_of(space));
    return POL_OK;
}

/* What a space says it did, held against what it was asked for. */
static pol_status check_placed(const pol_space *space, const pol_array *a)
{
    char text[POL_DESCRIBE_MAX_];
    if (!a->data)
        return pol_fail(POL_EINVAL,
                        "space %s: gave no memory for %s and called it success; its alloc must set "
                        "data",
                        name_of(space), pol_describe_(text, a));
    if (((uintptr_t)a->data & (a->type.align - 1)) != 0)
        return pol_fail(POL_EINVAL,
                        "space %s: gave %p for %s, which is not a multiple of %u bytes; its alloc "
                        "must align",
                        name_of(space), a->data, pol_describe_(text, a), (unsigned)a->type.align);
    return POL_OK;
}

pol_status pol_place_(pol_space *space, pol_array *a, size_t nbytes)
{
    const pol_array description = *a;
    const pol_thread *const t = pol_thread_self_();
    const uint32_t failures = t->failures;
    char text[POL_DESCRIBE_MAX_];
    a->home = space;
    a->flags = space->ops->release ? POL_FLAG_OWNED_ : 0;
    pol_status status = space->ops->alloc(space, a, nbytes);
    if (status == POL_OK) {
        status = check_placed(space, a);
        if (status == POL_OK)
            return POL_OK;
        pol_release(a);
    } else if (t->failures == failures) { /* a space that left no text of its own */
        pol_fail(status, "space %s: need %zu bytes for %s, refused (%s)", name_of(space), nbytes,
                 pol_describe_(text, &description), pol_status_text(status));
    }
    *a = description;
    return status;
}

pol_status pol_space_retract_(pol_space *space, struct pol_mark mark)
{
    const pol_thread *const t = pol_thread_self_();
    const uint32_t failures = t->failures;
    const pol_status status = space->ops->retract(space, mark);
    if (status != POL_OK && t->failures == failures)
        pol_fail(status, "space %s: its retract answered %s (%s)", name_of(space),
                 pol_status_name(status), pol_status_text(status));
    return status;
}

/* Computes the size of every entry and their sum; the first entry to materialize, or NULL. */
static pol_status check_sizes(const pol_array *first, size_t count, const pol_array **wanted)
{
    size_t sum = 0;
    *wanted = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t nbytes;
        if (first[i].data)
            continue;
        POL_TRY(pol_nbytes(&first[i], &nbytes));
        POL_TRY(pol_add_nbytes_(&sum, nbytes));
        if (!*wanted && !pol_is_absent(&first[i]))
            *wanted = &first[i];
    }
    return POL_OK;
}

/* Whether a frame is open on a space with marks of its own; arenas look for themselves. */
static bool is_beneath(const pol_space *space)
{
    return space->ops->mark && pol_records_mark_(pol_thread_self_(), space);
}

/* All of a type that is none, so that an invalid one is not taken for it. */
static bool is_absent(const pol_array *a)
{
    const pol_type *const t = &a->type;
    return (t->code | t->bits | t->lanes | t->size | t->align) == 0 && a->ndim == 0;
}

static POL_COLD pol_status refuse_capture(const pol_space *space, const pol_array *a)
{
    char text[POL_DESCRIBE_MAX_];
    return pol_fail(POL_ECAPTURE,
                    "space %s: its device records a graph, so %s cannot be allocated now; carve it "
                    "from an arena that was opened before",
                    name_of(space), pol_describe_(text, a));
}

static pol_status place_all(pol_space *space, pol_array *first, size_t count, size_t *placed)
{
    for (*placed = 0; *placed < count; ++*placed) {
        pol_array *const a = &first[*placed];
        size_t nbytes;
        if (!pol_is_undef(a))
            continue;
        POL_TRY(pol_nbytes(a, &nbytes));
        POL_TRY(pol_place_(space, a, nbytes));
        a->flags |= POL_FLAG_FRESH_;
    }
    return POL_OK;
}

/* Carves all of a bundle, or changes nothing and returns false. What is placed carries the flag
   until all of it is. */
static bool carve_bundle(pol_arena *a, pol_array *first, size_t count)
{
    const size_t offset = a->offset_;
    size_t i = 0;
    while (i < count) {
        pol_array *const x = &first[i];
        if (!x->data && !is_absent(x)) {
            if (!pol_array_carve_(a, x))
                break;
            x->flags = POL_FLAG_FRESH_;
        }
        i++;
    }
    const bool all = i == count;
    while (i-- != 0) {
        pol_array *const x = &first[i];
        if (x->flags & POL_FLAG_FRESH_) {
            x->flags = 0;
            if (!all)
                pol_strip_(x);
        }
    }
    if (!all)
        pol_arena_set_(a, offset);
    return all;
}

static POL_NOINLINE_ pol_status alloc_asking(pol_space *space, pol_array *first, size_t count)
{
    const pol_array *wanted;
    size_t placed;
    pol_undo undo;
    POL_TRY(pol_space_check_(space));
    if (count == 0)
        return POL_OK;
    if (!first)
        return pol_fail(POL_EINVAL, "pol_alloc: the destination is NULL; give its address");
    POL_TRY(check_sizes(first, count, &wanted));
    if (wanted && is_beneath(space))
        return pol_fail(
            POL_EORDER,
            "space %s: a frame is open on it, whose end would take the memory back; ask the frame",
            name_of(space));
    if (wanted && is_capturing(space))
        return refuse_capture(space, wanted);
    pol_undo_begin_(&undo, space);
    const pol_status status = place_all(space, first, count, &placed);
    if (status != POL_OK) {
        pol_undo_all_(&undo, space, first, placed, POL_FLAG_FRESH_);
        if (status == POL_ECEILING && undo.arena)
            return pol_arena_full_(undo.arena, undo.offset, first, count);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        first[i].flags &= (uint16_t)~POL_FLAG_FRESH_;
    return POL_OK;
}

POL_NOINLINE_ pol_status pol_alloc_checked_(pol_space *space, pol_array *first, size_t count)
{
    pol_arena *const a = count > 1 && first ? pol_asked_arena_(space) : NULL;
    if (a && carve_bundle(a, first, count))
        return POL_OK;
    return alloc_asking(space, first, count);
}

pol_status pol_alloc_arrays(pol_space *space, pol_array *first, size_t count)
{
    return pol_alloc_any_(space, first, count);
}

void pol_undo_begin_(pol_undo *undo, pol_space *space)
{
    const pol_frame *const frame = pol_frame_of_(space);
    pol_space *const root = frame ? pol_frame_root_(frame) : space;
    undo->arena = pol_arena_of_(space);
    undo->marked = NULL;
    undo->records = pol_thread_self_()->records;
    if (undo->arena) {
        pol_arena_settle_(undo->arena);
        undo->offset = undo->arena->offset_;
        undo->peak = undo->arena->peak_;
        undo->strictest = undo->arena->strictest_;
    } else if (pol_space_has_marks_(root) && !is_capturing(root)) {
        undo->marked = root;
        undo->mark = root->ops->mark(root);
    }
}

void pol_undo_all_(const pol_undo *undo, pol_space *space, pol_array *first, size_t count,
                   unsigned flag)
{
    const pol_frame *const frame = pol_frame_of_(space);
    pol_status met = POL_OK;
    pol_kept_text kept;
    pol_text_keep_(&kept);
    if (undo->arena) {
        pol_arena_settle_(undo->arena); /* drops frames that were left open and are closed by now */
        pol_arena_set_(undo->arena, undo->offset);
        undo->arena->peak_ = undo->peak;
        undo->arena->strictest_ = undo->strictest;
    } else if (undo->marked) {
        met = pol_space_retract_(undo->marked, undo->mark);
    } else if (frame) {
        pol_thread *const t = pol_thread_self_();
        met = pol_records_undo_(t, undo->records, pol_level_of_(t, frame));
    }
    if (met != POL_OK) /* before a release can leave another text */
        pol_misuse_(met);
    for (pol_array *a = first + count; a-- != first;) {
        if (!(a->flags & flag))
            continue;
        if (!undo->marked) /* else the retract took it back */
            pol_release(a);
        pol_strip_(a);
    }
    pol_text_restore_(&kept, POL_OK);
}

void pol_release(pol_array *a)
{
    if (!a || !a->data || !(a->flags & POL_FLAG_OWNED_))
        return;
    a->home->ops->release(a->home, a);
    pol_strip_(a);
}

pol_device pol_space_device(const pol_space *space)
{
    const pol_device host = {1, 0}; /* kDLCPU */
    return space && space->ops && space->ops->device ? space->ops->device(space) : host;
}

void(pol_withspace_begin)(pol_scope *scope, pol_space *space)
{
    pol_thread *const t = pol_thread_self_();
    if (!scope) {
        pol_misuse_(pol_fail(POL_EINVAL, "pol_withspace_begin: the scope is NULL"));
        return;
    }
    scope->outer_ = t->here.ambient;
    t->here.ambient = space;
}

void pol_withspace_end(pol_scope *scope)
{
    if (scope)
        pol_thread_self_()->here.ambient = scope->outer_;
    else
        pol_misuse_(pol_fail(POL_EINVAL, "pol_withspace_end: the scope is NULL"));
}

void pol_withspace_clear(void)
{
    pol_thread *const t = pol_thread_self_();
    t->here.ambient = NULL;
    t->here.level = NULL;
    t->here.era++;
    if (t->here.era == POL_INERT_)
        t->here.era = 0;
    t->used = 0;
    pol_records_forget_(t);
}

pol_space *pol_ambientspace(void)
{
    pol_space *const ambient = pol_thread_self_()->here.ambient;
    if (!ambient)
        pol_fail(POL_ENOAMBIENT, "ambient space: none is bound on this thread; bind one by "
                                 "POL_WITHSPACE, or open a frame");
    return ambient;
}

pol_space *(pol_ambientspace_or)(pol_space *space)
{
    pol_space *const ambient = pol_thread_self_()->here.ambient;
    return ambient ? ambient : space;
}
