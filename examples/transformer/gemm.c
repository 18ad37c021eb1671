/* SPDX-License-Identifier: MIT */
/*
 * c is cut into tiles, one a task. For a stretch of k at a time, the thread copies its part of b to
 * a panel that stays in the second-level cache (the idea is that of Goto and van de Geijn 2008,
 * "Anatomy of High-Performance Matrix Multiplication"), and adds the products to c, two rows of c
 * and four of the panel at a time. So an element of c, which the first-level cache holds for the
 * length of the stretch, is loaded and stored once for four products, an element of the panel is
 * loaded once for two, and the innermost loop runs along memory in all its operands: compilers
 * vectorize it for whatever registers there are.
 *
 * An element of c sums its products in the order of k, whatever the tiles are.
 */
#include "gemm.h"

#include "team.h"

#include <math.h>
#include <string.h>
#include <tgmath.h>

/* Of a panel: 128 KiB of floats, which a second-level cache holds beside the rows of a and c. Tiles
   are small enough that a team finds several in the narrow products of a small model. */
enum { TILE_M = 128, TILE_N = 128, STRETCH = 256 };

real dot(const real *x, const real *y, int64_t n)
{
    enum { LANES = 16 };
    real sums[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int64_t j = 0; j < LANES; j++)
            sums[j] += x[i + j] * y[i + j];
    for (int64_t j = 0; i < n; i++, j++)
        sums[j] += x[i] * y[i];
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        for (int64_t j = 0; j < half; j++)
            sums[j] += sums[j + half];
    return sums[0];
}

static int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t parts(int64_t n, int64_t size)
{
    return n / size + (n % size > 0);
}

struct job {
    const struct gemm *g;
    const struct gemm_scratch *s;
};

/* Where a tile lies in c, and how large it is. */
struct tile {
    int64_t i, j, m, n;
};

static struct tile tile_of(const struct gemm *g, int64_t task)
{
    const int64_t across = parts(g->n, TILE_N);
    const int64_t i = task / across * TILE_M, j = task % across * TILE_N;
    return (struct tile){i, j, smaller(TILE_M, g->m - i), smaller(TILE_N, g->n - j)};
}

#ifdef TRANSFORMER_BLAS

#include <cblas.h>

#ifdef TRANSFORMER_F64
#define CBLAS_GEMM cblas_dgemm
#else
#define CBLAS_GEMM cblas_sgemm
#endif

/* The same tiles for any team, because CBLAS may round otherwise in a matrix of another size. */
static void multiply_tile(const void *job, int64_t task, int member)
{
    const struct gemm *const g = ((const struct job *)job)->g;
    const struct tile t = tile_of(g, task);
    const real *const a = g->a + (g->a_transposed ? t.i : t.i * g->k);
    const real *const b = g->b + (g->b_transposed ? t.j * g->k : t.j);
    (void)member;
    CBLAS_GEMM(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
               g->b_transposed ? CblasTrans : CblasNoTrans, (int)t.m, (int)t.n, (int)g->k, 1, a,
               (int)(g->a_transposed ? g->m : g->k), b, (int)(g->b_transposed ? g->k : g->n),
               g->accumulate ? 1 : 0, g->c + t.i * g->n + t.j, (int)g->n);
}

struct gemm_scratch gemm_scratch_undef(int64_t m, int64_t n, int64_t k)
{
    (void)m, (void)n, (void)k;
    return (struct gemm_scratch){.panels = pol_undef_like(NULL)};
}

const char *gemm_kind(void)
{
    return "CBLAS";
}

#else

/* x y + z, in one instruction where there is one: in ISO C, gcc does not do so by itself. */
static inline real multiply_add(real x, real y, real z)
{
#if defined(__FMA__) || defined(FP_FAST_FMAF)
    return fma(x, y, z);
#else
    return z + x * y;
#endif
}

/* c0, c1 += the four entries of a0, a1 times the four rows of b; rows of n. */
static void add_rows(real *restrict c0, real *restrict c1, const real *restrict a0,
                     const real *restrict a1, const real *restrict b, int64_t n)
{
    const real a00 = a0[0], a01 = a0[1], a02 = a0[2], a03 = a0[3];
    const real a10 = a1[0], a11 = a1[1], a12 = a1[2], a13 = a1[3];
    const real *const b0 = b, *const b1 = b0 + n, *const b2 = b1 + n, *const b3 = b2 + n;
    for (int64_t j = 0; j < n; j++) {
        real x = multiply_add(a00, b0[j], c0[j]), y = multiply_add(a10, b0[j], c1[j]);
        x = multiply_add(a01, b1[j], x), y = multiply_add(a11, b1[j], y);
        x = multiply_add(a02, b2[j], x), y = multiply_add(a12, b2[j], y);
        c0[j] = multiply_add(a03, b3[j], x), c1[j] = multiply_add(a13, b3[j], y);
    }
}

/* to (k filled up with zeros to whole fours, n) = the part of b from (p, j) on. */
static void pack(real *restrict to, const struct gemm *g, int64_t p, int64_t k, int64_t j,
                 int64_t n)
{
    enum { LINE = 64 / sizeof(real) }; /* of the cache: read in whole where b is transposed */
    const real *const b = g->b + (g->b_transposed ? j * g->k + p : p * g->n + j);
    if (!g->b_transposed)
        for (int64_t i = 0; i < k; i++)
            memcpy(to + i * n, b + i * g->n, (size_t)n * sizeof(real));
    else
        for (int64_t first = 0; first < k; first += LINE)
            for (int64_t i = first; i < smaller(first + LINE, k); i++)
                for (int64_t x = 0; x < n; x++)
                    to[i * n + x] = b[x * g->k + i];
    for (int64_t i = k * n; i < parts(k, 4) * 4 * n; i++)
        to[i] = 0;
}

/* Copies the k entries of row i of op(a) from p on, filled up with zeros to whole fours. */
static void read_row(real *restrict to, const struct gemm *g, int64_t i, int64_t p, int64_t k)
{
    const real *const a = g->a + (g->a_transposed ? p * g->m + i : i * g->k + p);
    const int64_t step = g->a_transposed ? g->m : 1;
    for (int64_t x = 0; x < k; x++)
        to[x] = a[x * step];
    for (int64_t x = k; x < parts(k, 4) * 4; x++)
        to[x] = 0;
}

/* Adds what the panel, rows p to p + k - 1 of b, makes of the tile. `unused` is a row that is
   written in place of the one below an odd last row. */
static void add_stretch(const struct gemm *g, struct tile t, int64_t p, int64_t k,
                        const real *panel, real *unused)
{
    real a0[STRETCH], a1[STRETCH];
    for (int64_t i = 0; i < t.m; i += 2) {
        const bool alone = i + 1 == t.m;
        real *const c0 = g->c + (t.i + i) * g->n + t.j, *const c1 = alone ? unused : c0 + g->n;
        read_row(a0, g, t.i + i, p, k);
        read_row(a1, g, t.i + i + !alone, p, k);
        for (int64_t x = 0; x < k; x += 4)
            add_rows(c0, c1, a0 + x, a1 + x, panel + x * t.n, t.n);
    }
}

static void multiply_tile(const void *job, int64_t task, int member)
{
    const struct gemm *const g = ((const struct job *)job)->g;
    const pol_array mine = pol_index(&((const struct job *)job)->s->panels, member);
    const struct tile t = tile_of(g, task);
    real *const unused = pol_data(&mine, real), *const panel = unused + smaller(TILE_N, g->n);

    memset(unused, 0, (size_t)t.n * sizeof(real));
    for (int64_t i = 0; i < t.m && !g->accumulate; i++)
        memset(g->c + (t.i + i) * g->n + t.j, 0, (size_t)t.n * sizeof(real));
    for (int64_t p = 0; p < g->k; p += STRETCH) {
        const int64_t k = smaller(STRETCH, g->k - p);
        pack(panel, g, p, k, t.j, t.n);
        add_stretch(g, t, p, k, panel, unused);
    }
}

struct gemm_scratch gemm_scratch_undef(int64_t m, int64_t n, int64_t k)
{
    const int64_t rows = 1 + parts(smaller(k, STRETCH), 4) * 4;
    (void)m;
    return (struct gemm_scratch){
        .panels = pol_undef(REAL, team_size(), rows * smaller(n, TILE_N)),
    };
}

const char *gemm_kind(void)
{
    return "own loop";
}

#endif

struct gemm_scratch gemm_scratch_larger(struct gemm_scratch x, struct gemm_scratch y)
{
    return x.panels.dims[1] > y.panels.dims[1] ? x : y;
}

void gemm(const struct gemm *g, const struct gemm_scratch *s)
{
#ifdef TRANSFORMER_BLAS
    if (openblas_get_num_threads() != 1) /* the team's threads are enough */
        openblas_set_num_threads(1);
#endif
    const struct job job = {g, s};
    team_run(parts(g->m, TILE_M) * parts(g->n, TILE_N), multiply_tile, &job);
}
