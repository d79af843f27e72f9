/* The removed and added lines of changed files, within bounds. Private to change*.c. */
#pragma once
#include "git/change_list.h"
#include "git/job.h"

typedef struct ChangeLines {
    const Git *git;
    const char *from, *to; /* as for change_list */
    size_t left_bytes;     /* for all files together */
} ChangeLines;

/* Adds removed, added and, when not everything fitted, cut to the row. */
bool change_lines(ChangeLines *lines, const ChangeFile *file, json_t *row, Err *err) NODISCARD;
