/* SPDX-License-Identifier: MIT */

#include "heap.h"

#include "support.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !TEST_SANITIZED

/* volatile, because a compiler knows that malloc changes nothing that a program can see */
static _Thread_local volatile size_t calls, live, fail_at;
static _Thread_local volatile bool forever;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

static bool refused(void)
{
    calls++;
    return fail_at && (calls == fail_at || (forever && calls > fail_at));
}

static void *counted(void *p)
{
    if (p)
        live++;
    return p;
}

void *malloc(size_t size)
{
    return refused() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return refused() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
    if (refused())
        return NULL;
    void *const q = __libc_realloc(p, size);
    return p ? q : counted(q);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **p, size_t alignment, size_t size); /* C11's headers lack it */
int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *const q = refused() ? NULL : counted(__libc_memalign(alignment, size));
    if (!q)
        return ENOMEM;
    *p = q;
    return 0;
}

void free(void *p)
{
    if (p)
        live--;
    __libc_free(p);
}

bool test_heap_is_ours(void)
{
    /* A tool such as valgrind puts its own malloc before this one. */
    const size_t before = calls;
    void *volatile p = malloc(1);
    free(p);
    return calls != before;
}

size_t test_heap_calls(void)
{
    return calls;
}

size_t test_heap_live(void)
{
    return live;
}

void test_heap_fail(size_t k, bool for_ever)
{
    fail_at = k ? calls + k : 0;
    forever = for_ever;
}

#else

bool test_heap_is_ours(void)
{
    return false;
}
size_t test_heap_calls(void)
{
    return 0;
}
size_t test_heap_live(void)
{
    return 0;
}
void test_heap_fail(size_t k, bool for_ever)
{
    (void)k, (void)for_ever;
}

#endif
