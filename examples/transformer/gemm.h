/* SPDX-License-Identifier: MIT */
#ifndef GEMM_H
#define GEMM_H

/*
 * Products of matrices: by our own loop, or by CBLAS if the examples were configured with
 * -DPOL_EXAMPLES_BLAS=ON. A kernel that needs one makes gemm_scratch a part of its own scratch.
 */

#include "real.h"

/* c = op(a) op(b), or c += op(a) op(b); op(a) is (m, k), op(b) is (k, n), c is (m, n). All are
   row-major and contiguous, so a transposed `a` lies as (k, m), a transposed `b` as (n, k). None
   overlaps c. */
struct gemm {
    int64_t m, n, k;
    const real *a, *b;
    bool a_transposed, b_transposed;
    bool accumulate;
    real *c;
};

struct gemm_scratch {
    pol_array panels; /* (team, ...): a part of a and of b for each thread; absent with CBLAS */
};

/* Describes the scratch for a product of these sizes; it does not depend on which is transposed. */
struct gemm_scratch gemm_scratch_undef(int64_t m, int64_t n, int64_t k);

/* Returns scratch that serves either product. */
struct gemm_scratch gemm_scratch_larger(struct gemm_scratch x, struct gemm_scratch y);

void gemm(const struct gemm *g, const struct gemm_scratch *s);

/* Returns the sum of x[i] y[i], in an order that a compiler can vectorize: products of a matrix and
   a vector are made of these. */
real dot(const real *x, const real *y, int64_t n);

/* Says which of the two is used: "own loop" or "CBLAS". */
const char *gemm_kind(void);

#endif
