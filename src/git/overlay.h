/* A tree made of two commits: that of one, with some files as they are in the other.
 *
 * Made with an index of its own, never in a folder: names that are links in one commit and folders
 * in the other cannot lead anywhere. */
#pragma once
#include "git/cmd.h"
#include "git/job.h"

typedef struct Overlay {
    const char *hub, *name; /* name: of the work, for a temporary file */
    Oid base, over;         /* commits: what it is, and where the files come from */
    const char **paths;
    size_t count;
    Oid tree;             /* the result */
    size_t laid, removed; /* files taken from over; listed files that over does not have */
} Overlay;

/* Reads {commit, paths}; paths are relative, without "." and "..". */
bool overlay_read(const json_t *in, Overlay *overlay, Arena *arena, Err *err) NODISCARD;
bool overlay_make(Overlay *overlay, Err *err) NODISCARD;
