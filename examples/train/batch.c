/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include "random.h"
#include "tokenizer.h"

#include <string.h>

static int64_t count_sequences(const struct state *s, int64_t context)
{
    return s->tokens.dims[0] / context;
}

static void set(const struct state *s, int64_t sequence, int64_t context, const int32_t *text)
{
    int32_t *const tokens = pol_data(&s->tokens, int32_t) + sequence * context;
    int32_t *const targets = pol_data(&s->targets, int32_t) + sequence * context;
    memcpy(targets, text, (size_t)context * sizeof *targets);
    tokens[0] = TOKEN_START;
    memcpy(tokens + 1, text, (size_t)(context - 1) * sizeof *tokens);
}

void batch_draw(const struct state *s, const pol_array *part, int64_t context, uint64_t *random)
{
    const int32_t *const text = pol_data(part, int32_t);
    const uint64_t places = (uint64_t)(part->dims[0] - context) + 1;
    for (int64_t i = 0; i < count_sequences(s, context); i++)
        set(s, i, context, text + random_next(random) % places);
}

void batch_spread(const struct state *s, const pol_array *part, int64_t context, int64_t number,
                  int64_t batches)
{
    const int32_t *const text = pol_data(part, int32_t);
    const int64_t batch = count_sequences(s, context), all = batches * batch;
    const double last = (double)(part->dims[0] - context);
    for (int64_t i = 0; i < batch; i++) {
        const double share = all > 1 ? (double)(number * batch + i) / (double)(all - 1) : 0;
        set(s, i, context, text + (int64_t)(last * share));
    }
}
