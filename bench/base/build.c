/* build: what this program was built from, and by what. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "build.h"

#include "version.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { ID_DIGITS = 8 };

void format_build(char text[BUILD_BYTES])
{
    snprintf(text, BUILD_BYTES, "%s%s%s, %s%s%s", SCANBENCH_VERSION, SCANBENCH_COMMIT[0] ? " " : "",
             SCANBENCH_COMMIT, SCANBENCH_COMPILER, SCANBENCH_NVCC[0] ? ", " : "", SCANBENCH_NVCC);
}

/* Writes the first digits of the build ID that is among these notes, if one is. */
static void read_notes(const char *at, size_t bytes, char id[ID_DIGITS + 1])
{
    const char *const end = at + bytes;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        const unsigned char *value = (const void *)(name + (note->n_namesz + 3) / 4 * 4);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
            for (unsigned b = 0; b < note->n_descsz && b < ID_DIGITS / 2; b++)
                snprintf(id + (size_t)b * 2, 3, "%02x", value[b]);
        at = (const char *)value + (note->n_descsz + 3) / 4 * 4;
    }
}

/* The program itself comes first; libraries follow. */
static int read_id(struct dl_phdr_info *info, size_t size, void *id)
{
    (void)size;
    for (int s = 0; s < info->dlpi_phnum; s++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[s];
        /* Notes that are aligned to 8 bytes are of another kind. */
        if (segment->p_type == PT_NOTE && segment->p_align <= 4)
            /* The loader gives addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr) */
            read_notes((const char *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz, id);
    }
    return 1;
}

void identify_build(char text[BUILD_BYTES])
{
    char id[ID_DIGITS + 1] = "";
    format_build(text);
    dl_iterate_phdr(read_id, id);
    if (id[0] != '\0')
        snprintf(text + strlen(text), BUILD_BYTES - strlen(text), ", build ID %s", id);
}
