/* trace_page.h: --trace, one page that draws the steps of all traced runs. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* What every such page begins with. */
#define TRACE_PAGE_HEAD "<!doctype html>\n<!-- scanbench --trace -->\n"

/* Writes the page. `runs` are `count` bytes of JSON objects with commas between them. */
void write_trace_page(const char *runs, size_t count, FILE *out);
