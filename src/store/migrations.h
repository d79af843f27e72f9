/* The schema as a list of numbered steps. A step that was released is never changed again: the
 * next change is the next step. */
#pragma once
#include "base/err.h"
#include <sqlite3.h>

enum { STORE_APPLICATION_ID = 0x6f74746f /* "otto" */ };

/* steps[0] leads from an empty file to version 1, steps[1] from 1 to 2, and so on. */
extern const char *const store_migrations[];
extern const int store_migration_count; /* the version of this program */

/* A step's words for a list of core/ that grew: the check of a column takes more values. Nothing on
 * the disk changes but the table's definition, so a long table costs nothing. */
#define WIDEN(table, column, old_count, new_count)                                                 \
    "PRAGMA writable_schema = ON;"                                                                 \
    "UPDATE sqlite_schema SET sql = replace(sql, '" #column " < " #old_count ")', '" #column       \
    " < " #new_count ")') WHERE type = 'table' AND name = '" #table "';"                           \
    "PRAGMA writable_schema = RESET;"

/* What a file is, before anything is changed in it. ERR_CORRUPT: no database, or not otto's. */
bool migrate_look(sqlite3 *db, const char *path, int *version, Err *err) NODISCARD;

/* Takes the steps that are missing, each in one transaction together with its new version number:
 * after a crash the file holds one version or the next, never something between (F19). */
bool migrate_run(sqlite3 *db, const char *const *steps, int count, Err *err) NODISCARD;
