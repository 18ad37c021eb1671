/* SPDX-License-Identifier: MIT */
/*
 * The rotary embedding. Adjacent elements of a head are a pair, as in the models' files; the angles
 * are computed in `real` throughout, which is how the models were trained.
 */
#include "layers.h"

#include "team.h"

#include <string.h>
#include <tgmath.h>

struct angles_outputs angles_outputs(const struct angles_args *a)
{
    return (struct angles_outputs){.table = pol_undef(REAL, a->context, a->head_size / 2, 2)};
}

pol_status angles(const struct angles_outputs *out, const struct angles_args *a)
{
    POL_TRY(pol_expect("angles: table", &out->table, angles_outputs(a).table));
    real *table = pol_data(&out->table, real);
    for (int64_t at = 0; at < a->context; at++)
        for (int64_t i = 0; i < a->head_size / 2; i++) {
            const real power = (real)(2 * i) / (real)a->head_size;
            const real angle = (real)at * (1 / pow((real)10000, power));
            *table++ = cos(angle);
            *table++ = sin(angle);
        }
    return POL_OK;
}

struct rotate_outputs rotate_outputs(const struct rotate_args *a)
{
    return (struct rotate_outputs){
        .q = pol_undef_like(&a->q),
        .k = pol_undef_like(&a->k),
        .v = pol_undef_like(&a->v),
    };
}

struct rotate_job {
    const real *x, *table;
    real *y;
    int64_t columns, pairs, first, period; /* pairs: of a head */
    real direction;                        /* of the sine: 1 or -1 */
};

static void rotate_rows(const void *job, int64_t first, int64_t count)
{
    const struct rotate_job *const t = (const struct rotate_job *)job;
    for (int64_t r = first; r < first + count; r++) {
        const real *const angle = t->table + 2 * t->pairs * (t->first + r % t->period);
        const real *const x = t->x + r * t->columns;
        real *const y = t->y + r * t->columns;
        for (int64_t head = 0; head < t->columns; head += 2 * t->pairs)
            for (int64_t i = 0; i < 2 * t->pairs; i += 2) {
                const real c = angle[i], s = t->direction * angle[i + 1];
                const real x0 = x[head + i], x1 = x[head + i + 1];
                y[head + i] = x0 * c - x1 * s;
                y[head + i + 1] = x0 * s + x1 * c;
            }
    }
}

static pol_status rotate_heads(const char *name, const pol_array *y, const pol_array *x,
                               const struct rotate_args *a)
{
    const int64_t rows = a->q.dims[0], columns = x->dims[1], pairs = a->table.dims[1];
    POL_TRY(pol_expect(name, x, pol_undef(REAL, rows, columns)));
    POL_TRY(pol_expect(name, y, pol_undef_like(x)));
    if (pairs < 1 || columns % (2 * pairs) != 0)
        return pol_fail(POL_EINVAL, "%s: %lld columns are no heads of %lld", name,
                        (long long)columns, 2 * (long long)pairs);
    const struct rotate_job job = {
        .x = pol_data(x, real),
        .table = pol_data(&a->table, real),
        .y = pol_data(y, real),
        .columns = columns,
        .pairs = pairs,
        .first = a->first,
        .period = a->period,
        .direction = a->back ? -1 : 1,
    };
    team_split(rows, rows_of_a_part(3 * columns), rotate_rows, &job);
    return POL_OK;
}

pol_status rotate(const struct rotate_outputs *out, const struct rotate_args *a)
{
    size_t nbytes;
    POL_TRY(pol_expect("rotate: table", &a->table,
                       pol_undef(REAL, a->table.dims[0], a->table.dims[1], 2)));
    if (a->first < 0 || a->period < 1 || a->period > a->table.dims[0] - a->first)
        return pol_fail(POL_EINVAL, "rotate: %lld positions from %lld on, of %lld",
                        (long long)a->period, (long long)a->first, (long long)a->table.dims[0]);
    POL_TRY(rotate_heads("rotate: q", &out->q, &a->q, a));
    if (!pol_is_absent(&a->k))
        POL_TRY(rotate_heads("rotate: k", &out->k, &a->k, a));
    if (!pol_is_absent(&a->v) && out->v.data != a->v.data) {
        POL_TRY(pol_expect("rotate: v", &a->v, pol_undef_like_type(&a->v, REAL)));
        POL_TRY(pol_expect("rotate: v", &out->v, pol_undef_like(&a->v)));
        POL_TRY(pol_nbytes(&a->v, &nbytes));
        memcpy(out->v.data, a->v.data, nbytes);
    }
    return POL_OK;
}
