/* The schema as a list of numbered steps. A step that was released is never changed again: the
 * next change is the next step. */
#pragma once
#include "base/err.h"
#include <sqlite3.h>

enum { STORE_APPLICATION_ID = 0x6f74746f /* "otto" */ };

/* steps[0] leads from an empty file to version 1, steps[1] from 1 to 2, and so on. */
extern const char *const store_migrations[];
extern const int store_migration_count; /* the version of this program */

/* ---- the words of the steps ---- */

/* How many values each list of core/ had when the step was written. Values are stored as numbers:
 * new ones go to the end of their list, none is removed, and the next step widens the check
 * (WIDEN). As long as the newest step is not released, change its number here and write its fixture
 * of tests/store/ anew. The fixtures hold the words, so a reordered list is found. */
#define V1_TASK_STATES 9
#define V1_RUN_STATES 14
#define V1_NEEDS 3
#define V1_AUTO_STATES 4
#define V1_STOPS 7
#define V1_SIGNALS 8
#define V1_EVENTS 45
#define V2_RUN_STATES 16
#define V2_STOPS 9
#define V2_EVENTS 55
#define V2_SUBSTATES 3
#define V2_RECORD_KINDS 16

#define TEXT_OF(number) #number
#define BELOW(column, count) "CHECK (" #column " >= 0 AND " #column " < " TEXT_OF(count) ")"
#define FLAG(column) #column " INTEGER NOT NULL " BELOW(column, 2)
/* References are checked at the commit, so that rows may be written in any order. */
#define REFERS(table) "REFERENCES " #table " DEFERRABLE INITIALLY DEFERRED"

/* A list of core/ grew: the check of a column takes more values. Nothing on the disk changes but
 * the table's definition, so a long table costs nothing. */
#define WIDEN(table, column, old_count, new_count)                                                 \
    "PRAGMA writable_schema = ON;"                                                                 \
    "UPDATE sqlite_schema SET sql = replace(sql, '" BELOW(column, old_count) "', '" BELOW(         \
        column, new_count) "') WHERE type = 'table' AND name = '" #table "';"                      \
                           "PRAGMA writable_schema = RESET;"

extern const char store_v1[], store_v2[];

/* ---- taking them ---- */

/* What a file is, before anything is changed in it. ERR_CORRUPT: no database, or not otto's. */
bool migrate_look(sqlite3 *db, const char *path, int *version, Err *err) NODISCARD;

/* Takes the steps that are missing, each in one transaction together with its new version number:
 * after a crash the file holds one version or the next, never something between (F19). */
bool migrate_run(sqlite3 *db, const char *const *steps, int count, Err *err) NODISCARD;
