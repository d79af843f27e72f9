/* From flags and Markdown to the task objects of the API. */
#pragma once
#include "cli/args.h"
#include "core/backlog.h"

/* The flags that add and edit share; only what was given is set. */
bool task_from_flags(const Args *args, json_t *task, Err *err) NODISCARD;
/* One task of a Markdown file, every field that it has. */
bool task_from_backlog(const BacklogTask *from, json_t *task, Err *err) NODISCARD;
/* "3", "#3", "key", "3:verified" as {"task","need"}. */
json_t *task_after(const char *text, Err *err) NODISCARD;
/* A task of the API as Markdown with front matter, for an editor. */
void task_to_markdown(const json_t *task, Str *out);
