/* Backlog, inside: a file cut into parts, before any YAML is read. Private to backlog*.c. */
#pragma once
#include "core/backlog.h"

typedef struct BacklogPart {
    int line;         /* where it begins */
    const char *yaml; /* NULL: no front matter */
    size_t yaml_length;
    int yaml_line;     /* of the first line of YAML */
    const char *title; /* from a heading or list item; NULL: none */
    const char *body;
} BacklogPart;

typedef struct BacklogParts {
    BacklogPart *items;
    size_t count;
} BacklogParts;

/* text is clean (see backlog_read) and ends with a newline. */
bool backlog_split(const char *text, Arena *arena, BacklogParts *parts, Err *err) NODISCARD;
/* Front matter into the task; the title may come from it. */
bool backlog_front_matter(const BacklogPart *part, Arena *arena, BacklogTask *task,
                          Err *err) NODISCARD;
/* The list of R#; false: not what backlog_rows says. */
bool backlog_requirements(const json_t *value, Arena *arena, BacklogTask *task) NODISCARD;
