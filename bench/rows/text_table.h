/* text_table.h: the table for people.
 *
 * A heading names the device, the versions and every axis with a single value. Axes with
 * several values are columns. If the columns do not fit the terminal, axes shared by many rows
 * move to a line of their own above these rows. */
#pragma once

#include "columns.h"
#include "output_spec.h"

#include <stdio.h>

struct text_table;

/* A table for a terminal of that width. With --columns it has exactly the `chosen` columns, by
 * the names and in the units of the CSV file; else `chosen` is NULL. */
struct text_table *new_text_table(const struct output_spec *spec, const struct column **chosen,
                                  size_t chosen_count, int width, bool colour);
void free_text_table(struct text_table *table);

/* Announces a row: its axes determine the columns and their widths. All rows should be announced
 * before the first is added. */
void announce_to_table(struct text_table *table, const struct row *row);

/* Adds a row to the current group, of which flush_table() marks the fastest. */
void add_to_table(struct text_table *table, const struct row *row);

/* Writes the rows added since the last call, after the heading if it is not yet written. */
void flush_table(struct text_table *table, FILE *out);
