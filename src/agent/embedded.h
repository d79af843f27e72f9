/* Files that are part of the program: prompts and the demo. The table is made at build time by
 * tools/embed.c; names are paths from the source root: "prompts/work.md", "demo/repo/check.sh". */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct EmbeddedFile {
    const char *name;
    const char *bytes; /* a NUL follows the last byte */
    size_t length;
    uint64_t hash; /* FNV-1a of the bytes: which version of a prompt was used */
} EmbeddedFile;

const EmbeddedFile *embedded_all(size_t *count); /* in the order of the build file */
const EmbeddedFile *embedded_find(const char *name);
