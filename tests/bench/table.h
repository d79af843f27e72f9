/* The result table: one row per measured thing, printed as text and written as JSON. */
#pragma once
#include "base/err.h"
#include "base/json.h"

/* The findings are findings, never assertions. */
typedef enum Finding { FINDING_NONE, FINDING_MET, FINDING_MISSED, FINDING_NOT_MEASURED } Finding;

enum { ROW_TEXT = 160, ROW_NOTE = 400 };

typedef struct Row {
    const char *id;            /* "P1" */
    char metric[ROW_TEXT];     /* what, with its size and disk */
    const char *unit;          /* of the three numbers: "ms", "us", "MB", ... */
    double floor, peer, otto;  /* NAN: none */
    char floor_name[ROW_TEXT]; /* what stands in floor; "" none */
    char peer_name[ROW_TEXT];  /* what stands in peer, or "not installed" */
    double ratio;              /* NAN: none */
    char goal[ROW_TEXT];       /* "<= 2.2 x floor" */
    Finding finding;
    char note[ROW_NOTE]; /* why not measured, or what else was seen */
} Row;

typedef struct Table {
    Row *rows;
    size_t count, size;
} Table;

/* A new row with everything unset; valid until the next one is added. */
Row *table_add(Table *table, const char *id, const char *unit, const char *metric, ...)
    PRINTF(4, 5);
void row_floor(Row *row, double value, const char *name, ...) PRINTF(3, 4);
void row_peer(Row *row, double value, const char *name, ...) PRINTF(3, 4);
void row_goal(Row *row, bool is_met, const char *goal, ...) PRINTF(3, 4);
void row_note(Row *row, const char *note, ...) PRINTF(2, 3); /* appended with "; " */
void row_fail(Row *row, const char *reason, ...) PRINTF(2, 3);

void table_print(const Table *table);
bool table_save(const Table *table, json_t *about, const char *path, Err *err) NODISCARD;
void table_done(Table *table);
