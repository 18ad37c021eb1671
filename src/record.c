/* SPDX-License-Identifier: MIT */

/*
 * What a thread's frames owe to spaces other than arenas, and the levels of frames nested too deep
 * for arenas and threads to have room for them.
 *
 * Records form one chain a thread, newest first, on the heap, so that they outlive a frame whose
 * stack is gone. Each is tagged with the level of its frame. A record is taken off the chain before
 * it is undone: a release that itself opens frames finds the chain in order. A retract that fails,
 * because it found damage for example, does not keep the others from being undone.
 */

#include "internal.h"

#include <stdlib.h>

pol_record *pol_record_push_(pol_thread *t, pol_space *root, const pol_level *owner)
{
    pol_record *const record = (pol_record *)malloc(sizeof *record);
    if (!record)
        return NULL;
    *record = (pol_record){.older = t->records, .root = root, .owner = owner};
    t->records = record;
    return record;
}

void pol_record_drop_(pol_thread *t, pol_record *record)
{
    pol_record **link = &t->records;
    while (*link != record)
        link = &(*link)->older;
    *link = record->older;
    free(record);
}

const pol_record *pol_records_mark_(const pol_thread *t, const pol_space *root)
{
    const pol_record *record = t->records;
    while (record && !(record->kind == POL_RECORD_MARK_ && record->root == root))
        record = record->older;
    return record;
}

static pol_status undo_record(pol_record *record)
{
    pol_status status = POL_OK;
    switch (record->kind) {
    case POL_RECORD_ARRAY_:
        if (record->array.data) /* else the alloc that it was made for has not returned */
            record->root->ops->release(record->root, &record->array);
        break;
    case POL_RECORD_MARK_:
        status = pol_space_retract_(record->root, record->mark);
        break;
    case POL_RECORD_FRAME_:
        break; /* it was the level's place */
    }
    free(record);
    return status;
}

pol_status pol_records_undo_(pol_thread *t, const pol_record *until, const pol_level *owner)
{
    pol_failures met;
    met.first = POL_OK;
    pol_record **link = &t->records;
    while (*link && *link != until) {
        pol_record *const record = *link;
        if (record->owner != owner) { /* made meanwhile by other frames */
            link = &record->older;
            continue;
        }
        *link = record->older;
        pol_failures_add_(&met, undo_record(record));
        link = &t->records; /* undoing may have changed the chain */
    }
    return pol_failures_first_(&met);
}

void pol_records_forget_(pol_thread *t)
{
    while (t->records) {
        pol_record *const record = t->records;
        t->records = record->older;
        free(record);
    }
}
