/* handle: makes and frees handles, and their scratch. */
#include "handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Scratch ---- */

/* What has been captured may run at any time, so its scratch stays. */
static scanbench_status give_back(scanbench_handle *handle, struct scratch *scratch)
{
    if (scratch->memory != NULL && handle->captured) {
        struct retired *retired = malloc(sizeof *retired);
        if (retired == NULL)
            return SCANBENCH_ERROR_MEMORY;
        *retired = (struct retired){scratch->memory, handle->retired};
        handle->retired = retired;
    } else if (scratch->memory != NULL) {
        handle->side->release(handle, scratch->memory);
    }
    *scratch = (struct scratch){0};
    return SCANBENCH_OK;
}

/* More than is asked for: a smaller problem may need more, since other shapes of an algorithm are
 * chosen for it. library_test looks for one that needs more than this. */
static size_t with_spare(size_t bytes)
{
    const size_t least = 1 << 20, most = 32 << 20, share = bytes / 16;
    return bytes + (share < least ? least : share > most ? most : share);
}

scanbench_status grow_scratch(scanbench_handle *handle, struct scratch *scratch, size_t bytes,
                              bool capturing)
{
    if (bytes <= scratch->bytes)
        return SCANBENCH_OK;
    if (capturing)
        return refuse(handle, SCANBENCH_ERROR_SCRATCH,
                      "the call needs %zu bytes of scratch memory, and the handle has %zu: reserve "
                      "before the capture",
                      bytes, scratch->bytes);
    if (scratch == &handle->passing)
        handle->prepared = NULL;
    scanbench_status status = give_back(handle, scratch);
    if (status == SCANBENCH_OK)
        status = handle->side->allocate(handle, with_spare(bytes), &scratch->memory);
    if (status == SCANBENCH_OK)
        scratch->bytes = with_spare(bytes);
    return status;
}

scanbench_status refuse(scanbench_handle *handle, scanbench_status status, const char *reason, ...)
{
    va_list values;
    va_start(values, reason);
    vsnprintf(handle->error, sizeof handle->error, reason, values);
    va_end(values);
    return status;
}

const char *scanbench_error(const scanbench_handle *handle)
{
    return handle != NULL ? handle->error : "";
}

scanbench_status create_handle(scanbench_handle **handle, const struct side *side, unsigned number)
{
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    *handle = NULL;
    scanbench_handle *created = calloc(1, sizeof *created);
    if (created == NULL)
        return SCANBENCH_ERROR_MEMORY;
    created->side = side;
    const scanbench_status status = side->open(created, number);
    created->limits.kind = side->kind;
    created->limits.name = created->name;
    if (status == SCANBENCH_OK)
        *handle = created;
    else
        scanbench_destroy(created);
    return status;
}

scanbench_status scanbench_create_gpu(scanbench_handle **handle, int device)
{
    const struct side *side = &gpu_side != NULL ? &gpu_side : &emulated_side;
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    *handle = NULL;
    if (side == NULL || device < 0)
        return SCANBENCH_ERROR_NO_DEVICE;
    return create_handle(handle, side, (unsigned)device);
}

scanbench_status scanbench_create_cpu(scanbench_handle **handle, unsigned threads)
{
    return create_handle(handle, &cpu_side, threads);
}

void scanbench_destroy(scanbench_handle *handle)
{
    if (handle == NULL)
        return;
    handle->captured = false; /* no graph may be launched any more */
    struct scratch *const all[] = {&handle->lasting, &handle->passing, &handle->copy};
    for (int s = 0; s < 3; s++)
        give_back(handle, all[s]);
    while (handle->retired != NULL) {
        struct retired *retired = handle->retired;
        handle->retired = retired->older;
        handle->side->release(handle, retired->memory);
        free(retired);
    }
    handle->side->close(handle);
    free(handle);
}

size_t scanbench_scratch_bytes(const scanbench_handle *handle)
{
    return handle != NULL ? handle->lasting.bytes + handle->passing.bytes + handle->copy.bytes : 0;
}
