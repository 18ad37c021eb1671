/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct options DEFAULTS = {
    .data = "/usr/share/datasets/fashion-mnist",
    .seed = 1,
    .epochs = 8,
    .batch = 100,
    .hidden = 128,
};

static pol_status set(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "data") == 0)
        o->data = value;
    else if (strcmp(name, "output") == 0)
        o->output = value;
    else if (strcmp(name, "seed") == 0)
        return number_read(&o->seed, name, value, 0, UINT64_MAX);
    else if (strcmp(name, "epochs") == 0)
        return number_read(&o->epochs, name, value, 1, 1000);
    else if (strcmp(name, "batch") == 0)
        return number_read(&o->batch, name, value, 1, 100000);
    else
        return number_read(&o->hidden, name, value, 1, 4096);
    return POL_OK;
}

static bool is_option(const char *name)
{
    static const char *const names[] = {"data", "output", "seed", "epochs", "batch", "hidden"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

pol_status options_read(struct options *o, int argc, char **argv)
{
    *o = DEFAULTS;
    for (int i = 1; i < argc; i += 2) {
        const char *const name = argv[i], *const value = argv[i + 1]; /* NULL after the last */
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            o->help = true;
            return POL_OK;
        }
        if (strncmp(name, "--", 2) != 0 || !is_option(name + 2))
            return pol_fail(POL_EINVAL, "no such option: '%s'; --help lists them", name);
        if (!value)
            return pol_fail(POL_EINVAL, "%s wants a value; --help says which", name);
        POL_TRY(set(o, name + 2, value));
    }
    return POL_OK;
}

void options_print_help(void)
{
    printf("usage: fashion_mnist [option value]...\n"
           "Trains a network of one hidden layer on Fashion-MNIST; all its buffers are libpol's.\n"
           "\n"
           "  --data FOLDER   the four gzipped IDX files (%s)\n"
           "  --epochs N      times through the training images, 1 to 1000 (%" PRIu64 ")\n"
           "  --batch N       images a step, 1 to 100000 (%" PRIu64 ")\n"
           "  --hidden N      units of the hidden layer, 1 to 4096 (%" PRIu64 ")\n"
           "  --seed N        of the weights and the order of the images (%" PRIu64 ")\n"
           "  --output FILE   write each epoch's figures as CSV\n"
           "  --help          this\n",
           DEFAULTS.data, DEFAULTS.epochs, DEFAULTS.batch, DEFAULTS.hidden, DEFAULTS.seed);
}
