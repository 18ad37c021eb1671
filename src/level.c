/* SPDX-License-Identifier: MIT */

/*
 * Levels: which frames are open.
 *
 * The open frames of a thread form a chain of levels, innermost first, and a frame is open exactly
 * if a level of the chain names it as its owner. A frame on an arena has the next of the arena's
 * own; one elsewhere one of the few in the thread's block; one too deep for either has a record.
 * All of them outlive the frame, so a chain that longjmp has cut short on the stack is whole here,
 * and closing an outer frame closes those above it one by one without looking at them.
 *
 * pol_withspace_clear() forgets the chain without a look at the arenas, which may be gone. An arena
 * that is not gone finds out when it is next asked: it has open frames, of this thread, and no
 * level in the chain.
 */

#include "internal.h"

#include <stddef.h>

pol_level *pol_level_of_(const pol_thread *t, const pol_frame *f)
{
    pol_level *level = t->here.level;
    while (level && level->owner != f)
        level = level->outer;
    return level;
}

static const pol_level *innermost_of(const pol_thread *t, const pol_arena *a)
{
    const pol_level *level = t->here.level;
    while (level && level->arena != a)
        level = level->outer;
    return level;
}

static bool is_last(const pol_arena *a, const pol_level *level)
{
    return level == &a->levels_[POL_FRAMES_TRACKED_];
}

const pol_level *pol_arena_level_(const pol_arena *a)
{
    if (!a->top_)
        return a->levels_;
    const pol_level *const level =
        is_last(a, a->level_) ? innermost_of(pol_thread_self_(), a) : NULL;
    return level ? level : a->level_;
}

unsigned pol_arena_nframes_(const pol_arena *a)
{
    unsigned n = 0;
    for (const pol_level *level = pol_thread_self_()->here.level; level; level = level->outer)
        n += level->arena == a;
    return n ? n : (unsigned)(a->level_ - a->levels_);
}

static bool has_forgotten(const pol_arena *a)
{
    const pol_thread *const t = pol_thread_self_();
    return a->top_ && a->thread_ == &t->here && !innermost_of(t, a);
}

void pol_arena_settle_(pol_arena *a)
{
    if (!has_forgotten(a))
        return;
    pol_arena_fall_(a, a->levels_[1].at.start);
    a->top_ = NULL;
}

size_t pol_arena_offset(const pol_arena *a)
{
    if (!a || a->capacity_ == 0)
        return 0;
    return has_forgotten(a) ? a->levels_[1].at.start : a->offset_;
}

/* The record that a level is part of; NULL: it lies elsewhere. */
static pol_record *record_of(const pol_thread *t, pol_level *level)
{
    const uintptr_t at = (uintptr_t)level, a = (uintptr_t)level->arena;
    if (level >= t->levels && level < t->levels + POL_LEVELS_)
        return NULL;
    if (a && at >= a && at < a + sizeof(pol_arena))
        return NULL;
    return (pol_record *)(void *)((char *)level - offsetof(pol_record, level));
}

void pol_arena_unlink_(const pol_arena *a)
{
    pol_thread *const t = pol_thread_self_();
    pol_level **link = &t->here.level;
    while (*link) {
        pol_level *const level = *link;
        if (level->arena != a) {
            link = &level->outer;
            continue;
        }
        *link = level->outer;
        if (record_of(t, level))
            pol_record_drop_(t, record_of(t, level));
    }
}

/* Room for a level that needs no heap; NULL if there is none. */
static pol_level *free_level(pol_thread *t, const pol_frame *f)
{
    pol_arena *const a = f->arena_;
    if (a && !a->top_)
        return &a->levels_[1];
    if (a)
        return is_last(a, a->level_) ? NULL : a->level_ + 1;
    for (uint32_t i = 0; i < POL_LEVELS_; i++)
        if (!(t->used & (1u << i))) {
            t->used |= 1u << i;
            return &t->levels[i];
        }
    return NULL;
}

static void enter_arena(pol_thread *t, const pol_frame *f, pol_level *level, pol_record *record)
{
    pol_arena *const a = f->arena_;
    level->at.start = a->offset_;
    if (record)
        record->top = a->top_; /* level_ stays the last of the arena's own */
    else
        a->level_ = level;
    a->top_ = f;
    a->thread_ = &t->here;
}

bool pol_level_enter_(pol_thread *t, pol_frame *f)
{
    pol_record *const until = t->records;
    pol_level *level = free_level(t, f);
    const bool marks = !f->arena_ && pol_space_has_marks_(f->root_);
    pol_record *record = NULL;
    if (!level || marks) {
        record = pol_record_push_(t, pol_frame_root_(f), level);
        if (!record && !level)
            f->era_ = POL_INERT_;
        if (!level && record)
            record->owner = level = &record->level;
    }
    if (level) {
        level->outer = t->here.level;
        level->arena = f->arena_;
        level->at.until = until;
        level->owner = f;
        t->here.level = level;
        if (f->arena_)
            enter_arena(t, f, level, record);
    }
    if (record && marks) {
        record->kind = POL_RECORD_MARK_;
        record->mark = f->root_->ops->mark(f->root_);
    }
    return record || (level && !marks);
}

/* Puts the arena back to what it was when the frame of that level began on it. */
static void leave_arena(pol_thread *t, pol_level *level)
{
    pol_arena *const a = level->arena;
    pol_record *const record = record_of(t, level);
    if (record ? a->top_ == level->owner : a->level_ == level) {
        pol_arena_fall_(a, level->at.start);
        a->top_ = record ? record->top : level[-1].owner;
        if (!record)
            a->level_ = level - 1;
    }
    if (record)
        pol_record_drop_(t, record);
}

/* Undoes a frame that is in the chain no more, or is its innermost one. */
static pol_status undo_level(pol_thread *t, pol_level *level)
{
    if (level->arena) {
        leave_arena(t, level);
        return POL_OK;
    }
    const pol_status status = pol_records_undo_(t, level->at.until, level);
    if (level >= t->levels && level < t->levels + POL_LEVELS_) /* else it went with its record */
        t->used &= ~(1u << (level - t->levels));
    return status;
}

pol_status pol_level_close_(pol_thread *t)
{
    pol_level *const level = t->here.level;
    pol_level *const outer = level->outer;
    const pol_status status = undo_level(t, level);
    t->here.level = outer;
    return status;
}

static bool is_in_chain(const pol_thread *t, const pol_level *level)
{
    const pol_level *at = t->here.level;
    while (at && at != level)
        at = at->outer;
    return at == level;
}

pol_status pol_levels_close_above_(pol_thread *t, const pol_level *level, unsigned *above)
{
    pol_failures met;
    met.first = POL_OK;
    *above = 0;
    if (!is_in_chain(t, level))
        return POL_OK;
    while (t->here.level != level) {
        pol_level *const innermost = t->here.level;
        t->here.level = innermost->outer; /* what a release opens finds living frames alone */
        pol_failures_add_(&met, undo_level(t, innermost));
        ++*above;
    }
    return pol_failures_first_(&met);
}
