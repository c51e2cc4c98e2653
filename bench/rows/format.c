/* format: the table of formats. */
#include "format.h"

const struct row_format row_formats[FORMAT_COUNT] = {
    [FORMAT_AUTO] = {"auto", begin_csv, write_csv_row},
    [FORMAT_CSV] = {"csv", begin_csv, write_csv_row},
    [FORMAT_TABLE] = {"table", begin_csv, write_csv_row},
    [FORMAT_JSON] = {"json", begin_json, write_json_row, end_json, ".json"},
    [FORMAT_JSONL] = {"jsonl", NULL, write_jsonl_row, NULL, ".jsonl"},
    [FORMAT_MARKDOWN] = {"markdown", begin_markdown, write_markdown_row, NULL, ".md"},
    [FORMAT_VERDICTS] = {"verdicts", NULL, NULL, end_verdicts},
};
