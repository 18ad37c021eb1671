/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum kind { WHOLE, FRACTION, TEXT, SWITCH };

/* One line an option: its name, kind, place in struct options, least, most, and what help says. */
struct option {
    const char *name;
    enum kind kind;
    size_t place;
    uint64_t least, most;
    const char *help;
};

#define PLACE(field) offsetof(struct options, field)
static const struct option OPTIONS[] = {
    {"out", TEXT, PLACE(out), 0, 0, "FILE  write the model there"},
    {"tokenizer", TEXT, PLACE(tokenizer), 0, 0, "FILE  tokens are this file's, else bytes"},
    {"curve", TEXT, PLACE(curve), 0, 0, "FILE  draw the losses there, as SVG"},
    {"dim", WHOLE, PLACE(dim), 2, 65536, "N  of the residual stream"},
    {"hidden", WHOLE, PLACE(hidden), 0, 1 << 20, "N  of the feed-forward; 0: 8/3 dim, to 32s"},
    {"layers", WHOLE, PLACE(layers), 1, 1024, "N"},
    {"heads", WHOLE, PLACE(heads), 1, 1024, "N  of the queries"},
    {"kv-heads", WHOLE, PLACE(kv_heads), 0, 1024, "N  of keys and values; 0: as heads"},
    {"vocab", WHOLE, PLACE(vocab), 259, 1 << 24, "N  tokens, for --plan without --tokenizer"},
    {"context", WHOLE, PLACE(context), 1, 1 << 20, "N  tokens of a sequence"},
    {"batch", WHOLE, PLACE(batch), 1, 65536, "N  sequences a step"},
    {"steps", WHOLE, PLACE(steps), 1, 1 << 30, "N"},
    {"warmup", WHOLE, PLACE(warmup), 0, 1 << 30,
     "N  steps in which the rate rises; else 50, or a tenth if fewer"},
    {"validate", WHOLE, PLACE(validate), 1, 1 << 30, "N  steps from one validation to the next"},
    {"rate", FRACTION, PLACE(rate), 0, 1, "X  of learning, at its highest"},
    {"decay", FRACTION, PLACE(decay), 0, 1, "X  of the weights"},
    {"clip", FRACTION, PLACE(clip), 0, 1000, "X  the gradients' norm at most; 0: as it is"},
    {"seed", WHOLE, PLACE(seed), 0, UINT64_MAX, "N  of the weights and the batches"},
    {"threads", WHOLE, PLACE(threads), 1, 64, "N"},
    {"recompute", SWITCH, PLACE(recompute), 0, 0,
     "  make checkpoints again instead of keeping them"},
    {"plan", SWITCH, PLACE(plan), 0, 0, "  say where the memory would go, and take none"},
    {"help", SWITCH, PLACE(help), 0, 0, "  this"},
};
enum { NOPTIONS = sizeof OPTIONS / sizeof *OPTIONS };

#define NOT_GIVEN UINT64_MAX /* past what may be */
enum { BYTES_VOCAB = 259 };  /* of bytes, as tokenizer.h has it */

static const struct options DEFAULTS = {
    .dim = 96,
    .layers = 3,
    .heads = 4,
    .context = 128,
    .batch = 8,
    .steps = 500,
    .warmup = NOT_GIVEN,
    .validate = 50,
    .threads = 2,
    .seed = 1,
    .rate = 3e-3,
    .decay = 0.1,
    .clip = 1,
};

static const struct option *find(const char *argument)
{
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    for (int i = 0; i < NOPTIONS; i++)
        if (strcmp(argument + 2, OPTIONS[i].name) == 0)
            return &OPTIONS[i];
    return NULL;
}

static pol_status set(struct options *o, const struct option *option, const char *value)
{
    void *const place = (char *)o + option->place;
    if (option->kind != SWITCH && !value)
        return pol_fail(POL_EINVAL, "--%s wants a value; --help says which", option->name);
    switch (option->kind) {
    case SWITCH:
        *(bool *)place = true;
        return POL_OK;
    case TEXT:
        if (*value == '\0')
            return pol_fail(POL_EINVAL, "--%s wants a file, not ''", option->name);
        *(const char **)place = value;
        return POL_OK;
    case FRACTION:
        return fraction_read((double *)place, option->name, value, (double)option->least,
                             (double)option->most);
    case WHOLE:
        break;
    }
    return number_read((uint64_t *)place, option->name, value, option->least, option->most);
}

static void complete(struct options *o)
{
    if (o->hidden == 0)
        o->hidden = (o->dim * 8 / 3 + 31) / 32 * 32;
    if (o->kv_heads == 0)
        o->kv_heads = o->heads;
    if (o->vocab == 0)
        o->vocab = BYTES_VOCAB;
    if (o->warmup == NOT_GIVEN)
        o->warmup =
            o->steps < 500 ? (o->steps + 9) / 10 : 50; /* a short run reaches the rate too */
}

/* What makes no sense together. */
static pol_status check(const struct options *o)
{
    if (o->vocab != 0 && !o->plan)
        return pol_fail(POL_EINVAL, "--vocab is for --plan alone; a run's tokens are its "
                                    "--tokenizer's, or bytes");
    if (o->vocab != 0 && o->tokenizer)
        return pol_fail(POL_EINVAL, "--vocab and --tokenizer both say how many tokens there are; "
                                    "leave one out");
    if (o->plan)
        return POL_OK;
    if (o->ntexts == 0)
        return pol_fail(POL_EINVAL, "no text to learn from; --help says how");
    return o->out ? POL_OK : pol_fail(POL_EINVAL, "where to? --out FILE names the model");
}

pol_status options_read(struct options *o, int argc, char **argv)
{
    *o = DEFAULTS;
    o->texts = argv + 1;
    for (int i = 1; i < argc; i++) {
        const struct option *const option = find(argv[i]);
        if (!option && argv[i][0] == '-')
            return pol_fail(POL_EINVAL, "no such option: '%s'; --help lists them", argv[i]);
        if (!option) {
            argv[1 + o->ntexts++] = argv[i];
            continue;
        }
        POL_TRY(set(o, option, argv[i + 1])); /* NULL after the last */
        if (option->kind != SWITCH)
            i++;
    }
    if (!o->help)
        POL_TRY(check(o));
    complete(o);
    return POL_OK;
}

void options_print_help(void)
{
    printf("usage: train TEXT... --out MODEL [option value]...\n"
           "Trains a transformer on text files; all its buffers are libpol's.\n\n");
    for (int i = 0; i < NOPTIONS; i++)
        printf("  --%s %s\n", OPTIONS[i].name, OPTIONS[i].help);
}
