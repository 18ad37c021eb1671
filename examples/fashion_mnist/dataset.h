/* SPDX-License-Identifier: MIT */
#ifndef DATASET_H
#define DATASET_H

/*
 * Fashion-MNIST: four IDX files of a folder, checked against each other.
 *
 * The bundle `struct dataset` is all there is to it in memory: described by dataset_open(),
 * materialized by pol_alloc() in a space of the caller's, filled by dataset_read().
 */

#include "idx.h"

enum { IMAGE_SIDE = 28, PIXELS = IMAGE_SIDE * IMAGE_SIDE, CLASSES = 10 };

struct samples {
    pol_array images; /* (n, 28, 28) u8 */
    pol_array labels; /* (n) u8: 0 to 9 */
};

struct dataset {
    struct samples train, test;
};

struct dataset_files {
    struct idx train_images, train_labels, test_images, test_labels;
};

/* Opens the files and describes what is in them. Close the files also after a failure. */
POL_NODISCARD pol_status dataset_open(struct dataset_files *files, const char *folder,
                                      struct dataset *description);

/* Fills the materialized `data` and checks the labels. */
POL_NODISCARD pol_status dataset_read(struct dataset_files *files, const struct dataset *data);

void dataset_close(struct dataset_files *files);

#endif
