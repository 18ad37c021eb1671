/* SPDX-License-Identifier: MIT */
#include "test_gradients_check.h"

#include "team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEAMS = 3 };

/* Element (i, j) of the product, by the definition. */
static double element(const struct gemm *g, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t p = 0; p < g->k; p++)
        sum += (double)g->a[g->a_transposed ? p * g->m + i : i * g->k + p] *
               (double)g->b[g->b_transposed ? j * g->k + p : p * g->n + j];
    return sum;
}

static pol_status compare(const struct gemm *g, const pol_array *before)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            const double added = g->accumulate ? (double)pol_data(before, real)[i * g->n + j] : 0;
            const double wanted = element(g, i, j) + added, found = (double)g->c[i * g->n + j];
            if (!(fabs(found - wanted) <= 1e-13 * (double)(1 + g->k)))
                return pol_fail(POL_EUSER, "gemm %lld x %lld x %lld: (%lld, %lld) is %g, not %g",
                                (long long)g->m, (long long)g->n, (long long)g->k, (long long)i,
                                (long long)j, found, wanted);
        }
    return POL_OK;
}

/* One kind of product, by each team. */
static pol_status check_kind(struct guarded_space *space, struct gemm g)
{
    const size_t nbytes = (size_t)(g.m * g.n) * sizeof(real);
    pol_array before, c[TEAMS];
    POL_TRY(random_array(space, &before, pol_undef(REAL, g.m, g.n)));
    for (int i = 0; i < TEAMS; i++) {
        struct gemm_scratch scratch;
        POL_TRY(team_open(i + 1));
        POL_TRY(pol_alloc(&space->space, &c[i], pol_undef(REAL, g.m, g.n)));
        POL_TRY(pol_alloc(&space->space, &scratch, gemm_scratch_undef(g.m, g.n, g.k)));
        g.c = pol_data(&c[i], real);
        if (g.accumulate)
            memcpy(g.c, before.data, nbytes);
        gemm(&g, &scratch);
        team_close();
        if (memcmp(c[0].data, c[i].data, nbytes) != 0)
            return pol_fail(POL_EUSER, "gemm: the result depends on the team");
    }
    return compare(&g, &before);
}

static pol_status check_size(struct guarded_space *space, int64_t m, int64_t n, int64_t k)
{
    pol_array a, b;
    POL_TRY(random_array(space, &a, pol_undef(REAL, m, k)));
    POL_TRY(random_array(space, &b, pol_undef(REAL, k, n)));
    for (unsigned kind = 0; kind < 8; kind++)
        POL_TRY(check_kind(space, (struct gemm){.m = m,
                                                .n = n,
                                                .k = k,
                                                .a = pol_data(&a, real),
                                                .b = pol_data(&b, real),
                                                .a_transposed = kind & 1,
                                                .b_transposed = kind & 2,
                                                .accumulate = kind & 4}));
    return guarded_space_reset(space);
}

pol_status check_gemm(struct guarded_space *space)
{
    static const int64_t sizes[][3] = {
        {1, 1, 1},   {2, 3, 4},     {3, 5, 7},      {16, 16, 16},  {1, 300, 9},
        {300, 1, 9}, {5, 7, 0},     {7, 11, 130},   {4, 257, 129}, {129, 258, 5},
        {131, 5, 3}, {128, 256, 8}, {129, 31, 133},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        POL_TRY(check_size(space, sizes[i][0], sizes[i][1], sizes[i][2]));
    printf("%-44s equal\n", gemm_kind());
    return POL_OK;
}
