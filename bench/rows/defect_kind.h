/* defect_kind.h: what a row's reason means, in words for whoever wrote the code. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct row;

enum { EXPLANATION_BYTES = 320 };

/* The start of the reason of a row that was ended at its limit. */
#define DID_NOT_END "it did not end within "

/* A kind of defect: one line of the table in defect_kind.c. */
struct defect_kind {
    const char *sign; /* what the reason of a row contains */
    const char *title;
    const char *meaning; /* what is to be done, or NULL */
    enum reason_form {
        FORM_VALUES,  /* "output[3]: got 1, wanted 2" */
        FORM_OUTSIDE, /* the same; what was wanted is a mark of the check's own */
        FORM_TEXT,    /* anything else, which is shown as it is */
    } form;
};

/* A reason taken apart. */
struct explanation {
    const struct defect_kind *kind;
    bool later;                   /* an earlier call of the same row was right */
    char what[EXPLANATION_BYTES]; /* the reason in plain words */
    char key[EXPLANATION_BYTES];  /* equal in all rows that show the same defect */
};

/* Is it the other kind of scan? Any wrong result may look like that if there is one element. */
bool is_other_scan(const struct explanation *explanation);

/* Is nothing known but that the result is wrong? */
bool is_any_wrong_result(const struct explanation *explanation);

/* Takes apart the reason of a row that is `failed` or `error`. */
void explain_reason(const struct row *row, struct explanation *explanation);
