/* SPDX-License-Identifier: MIT */

/*
 * Memory that is owned: the C library's heap and the system's pages.
 *
 * Both are static objects without state, so any thread may ask at any time. Pages are mapped
 * without reserving swap for them: an address range, to which the system adds memory as it is
 * touched. From 2 MiB on they start at a multiple of that and the system is asked for huge pages.
 * What was mapped is computed again from the description when it is released.
 */

#if !defined(_WIN32)
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#endif

#include "internal.h"

#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#define HEAP_ALIGNMENT 256
#define HUGE_PAGE ((size_t)2 << 20)

static pol_status refused(const char *space, const pol_array *a, size_t nbytes)
{
    char text[POL_DESCRIBE_MAX_];
    return pol_fail(
        POL_ENOMEM,
        "%s: need %zu bytes for %s, and the system refused them; free memory or ask for less",
        space, nbytes, pol_describe_(text, a));
}

static pol_status heap_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    const size_t alignment = a->type.align > HEAP_ALIGNMENT ? a->type.align : HEAP_ALIGNMENT;
    const size_t size = nbytes ? nbytes : 1; /* no elements have an address of their own too */
    (void)self;
#if defined(_WIN32)
    void *const data = _aligned_malloc(size, alignment);
#else
    void *data = NULL;
    if (posix_memalign(&data, alignment, size) != 0)
        data = NULL;
#endif
    if (!data)
        return refused("heap", a, nbytes);
    a->data = data;
    return POL_OK;
}

static void heap_release(pol_space *self, pol_array *a)
{
    (void)self;
#if defined(_WIN32)
    _aligned_free(a->data);
#else
    free(a->data);
#endif
}

pol_space *pol_heap(void)
{
    static const pol_space_ops ops = {.name = "heap", .alloc = heap_alloc, .release = heap_release};
    static pol_space heap = {&ops};
    return &heap;
}

#if defined(MAP_ANONYMOUS)

#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0
#endif

/* The bytes to map for nbytes: whole pages, at least one. 0 if there is no such size. */
static size_t mapped_size(size_t nbytes, size_t page)
{
    const size_t size = nbytes ? nbytes : 1;
    return size > SIZE_MAX - (page - 1) ? 0 : (size + (page - 1)) & ~(page - 1);
}

/* Fewer and larger page faults, where the system has the pages and is willing. A slab that memory
   could not hold is one of which little is touched: it goes on costing small pages. */
static void advise(void *data, size_t size, size_t page)
{
#if defined(MADV_HUGEPAGE) && defined(_SC_PHYS_PAGES)
    const long pages = sysconf(_SC_PHYS_PAGES);
    if (size >= HUGE_PAGE && pages > 0 && size / page <= (size_t)pages)
        (void)madvise(data, size, MADV_HUGEPAGE);
#else
    (void)data;
    (void)size;
    (void)page;
#endif
}

static pol_status pages_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = mapped_size(nbytes, page);
    const size_t own = a->type.align > page ? a->type.align : page;
    const size_t alignment = size >= HUGE_PAGE && own < HUGE_PAGE ? HUGE_PAGE : own;
    const size_t extra = alignment - page; /* to choose from */
    (void)self;
    if (size == 0 || extra > SIZE_MAX - size)
        return refused("pages", a, nbytes);
    char *const base = (char *)mmap(NULL, size + extra, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return refused("pages", a, nbytes);
    if (extra) { /* keep the aligned part alone */
        const size_t head = (0 - (size_t)(uintptr_t)base) & (alignment - 1);
        if (head)
            munmap(base, head);
        if (head < extra)
            munmap(base + head + size, extra - head);
        a->data = base + head;
    } else {
        a->data = base;
    }
    advise(a->data, size, page);
    return POL_OK;
}

static void pages_release(pol_space *self, pol_array *a)
{
    size_t nbytes;
    (void)self;
    if (pol_nbytes(a, &nbytes) == POL_OK)
        munmap(a->data, mapped_size(nbytes, (size_t)sysconf(_SC_PAGESIZE)));
}

#else

static pol_status pages_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    char text[POL_DESCRIBE_MAX_];
    (void)self;
    return pol_fail(
        POL_ENOTSUP,
        "pages: need %zu bytes for %s, and this system has no lazily committed pages; use pol_heap",
        nbytes, pol_describe_(text, a));
}

static void pages_release(pol_space *self, pol_array *a)
{
    (void)self;
    (void)a;
}

#endif

pol_space *pol_pages(void)
{
    static const pol_space_ops ops = {
        .name = "pages", .alloc = pages_alloc, .release = pages_release};
    static pol_space pages = {&ops};
    return &pages;
}

static pol_status measured_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    (void)self;
    (void)nbytes;
    a->data = (void *)((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 2)); /* where no memory is */
    return POL_OK;
}

pol_space *pol_measured_(void)
{
    static const pol_space_ops ops = {.name = "measured", .alloc = measured_alloc};
    static pol_space measured = {&ops};
    return &measured;
}

pol_space *pol_similar(const pol_array *x)
{
    return x && x->home ? x->home : pol_heap();
}
