/* row.h: one row of the results, with every column. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The C types of the kinds of columns. Text, typed: NULL or "" is empty. Number: NAN is
 * empty. Count: a negative one is empty. */
#define TYPE_OF_TEXT const char *
#define TYPE_OF_TYPED const char *
#define TYPE_OF_NUMBER double
#define TYPE_OF_COUNT int64_t

/* One row: one field per column, with the column's name. */
struct row {
#define COLUMN(name, column_class, column_kind, meaning) TYPE_OF_##column_kind name;
#include "columns.def"
#undef COLUMN
    /* Not columns: */
    bool simulated;       /* measured where times mean nothing for the device */
    bool memcpy_unsteady; /* the noise of the memcpy that memcpy_pct is of exceeds --max-noise */
};

#undef TYPE_OF_TEXT
#undef TYPE_OF_TYPED
#undef TYPE_OF_NUMBER
#undef TYPE_OF_COUNT

enum {
#define COLUMN(name, ...) COLUMN_##name,
#include "columns.def"
#undef COLUMN
    COLUMN_COUNT
};
