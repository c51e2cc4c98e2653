/* table.h: the table of algorithms.
 *
 * Built from algorithms.def, engines.def and choices.def. It knows algorithms, not options. */
#pragma once

#include "engine.h"

#include <stdbool.h>

/* One name of one operation, with its implementation on each kind of device; NULL if it has
 * none, or if this build lacks it. */
struct table_row {
    const char *name;
    enum operation op;
    const struct algorithm *on[DEVICE_KIND_COUNT];
    bool listed_on[DEVICE_KIND_COUNT]; /* the table lists it there, even if this build lacks it */
    bool needs_cuda_build;             /* missing from a build without nvcc */
    const char *own_file; /* of the user's, as --algo names it; NULL: it is a line of the table */
    bool is_choice;       /* `auto`: the problem decides which algorithm it is; see choice.h */
    bool of_team;         /* works on the slices of several devices, by any of the engines: */
    const struct algorithm *by[ENGINE_COUNT][DEVICE_KIND_COUNT];
};

/* The rows in the table's order. Lines of algorithms.def with the same name and operation
 * (memcpy on the CPU and on the GPU) are one row. */
size_t table_row_count(void);
const struct table_row *table_row(size_t index);

/* Adds a row of the user's, or replaces the one of the same operation and name. Returns false if
 * the table is full. */
bool table_put(const struct table_row *row);

/* NULL if the operation has no row of that name. */
const struct table_row *table_row_named(enum operation op, const char *name);

/* The algorithm of that name on that kind of device; NULL if this build lacks it. The table must
 * have a row of that name. */
const struct algorithm *table_algorithm(enum operation op, const char *name, enum device_kind kind);

/* Any implementation of the row, for its summary, family and traits; NULL if this build has
 * none. */
const struct algorithm *row_descriptor(const struct table_row *row);

/* The same of what works by one engine, which NULL means to be missing. */
const struct algorithm *row_descriptor_by(const struct table_row *row, enum engine_id engine);

bool is_ceiling(const struct table_row *row);

/* Can devices of this kind use the engine, if the build has it? */
bool engine_listed_on(enum engine_id engine, enum device_kind kind);

/* Is this not the program that `make run` builds for a first look, with a few algorithms? */
bool table_is_whole(void);

/* What to install or build for an algorithm that this build lacks; NULL if it has it. */
const char *missing_package(const struct algorithm *algorithm);
