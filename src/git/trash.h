/* The trash: where workspaces go, for a number of days, before their bytes are deleted.
 *
 * TRASH/NAME/meta.json says what it is and when it may go; TRASH/NAME/tree is the folder as it
 * was; TRASH/NAME/admin is a linked work tree's part of the hub. Nothing without a readable
 * meta.json is ever deleted. */
#pragma once
#include "git/job.h"
#include <limits.h>

/* Makes the entry and writes its meta; the caller then moves the folder to ENTRY/tree. */
bool trash_open(const char *trash, const char *name, const json_t *meta, char entry[PATH_MAX],
                Err *err) NODISCARD;
/* TRASH/NAME/tree is there? */
bool trash_has(const char *trash, const char *name, char tree[PATH_MAX]);

/* trash-list {trash} -> {entries: [{name, what, task, title, run, when_ms, expires_ms, from}]} */
bool trash_list_job(const json_t *in, json_t *out, Err *err);
/* trash-restore {trash, name, to?} -> {path} */
bool trash_restore_job(const json_t *in, json_t *out, Err *err);
/* trash-expire {trash, now_ms} -> {removed: [name], kept, unreadable: [name]} */
bool trash_expire_job(const json_t *in, json_t *out, Err *err);
