/* The result table: see table.h. */
#include "tests/bench/table.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include <math.h>
#include <stdarg.h>

static const char *const finding_words[] = {"-", "met", "NOT MET", "not measured"};

static void PRINTF(3, 0) put(char *out, size_t size, const char *format, va_list args)
{
    (void)vsnprintf(out, size, format, args); /* a long text is cut */
}

Row *table_add(Table *table, const char *id, const char *unit, const char *metric, ...)
{
    if (table->count == table->size) {
        table->size = table->size ? table->size * 2 : 32;
        table->rows = mem_grow(table->rows, table->size, sizeof *table->rows);
    }
    Row *row = &table->rows[table->count++];
    *row = (Row){.id = id, .unit = unit, .floor = NAN, .peer = NAN, .otto = NAN, .ratio = NAN};
    va_list args;
    va_start(args, metric);
    put(row->metric, sizeof row->metric, metric, args);
    va_end(args);
    return row;
}

void row_floor(Row *row, double value, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    put(row->floor_name, sizeof row->floor_name, name, args);
    va_end(args);
    row->floor = value;
}

void row_peer(Row *row, double value, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    put(row->peer_name, sizeof row->peer_name, name, args);
    va_end(args);
    row->peer = value;
}

void row_goal(Row *row, bool is_met, const char *goal, ...)
{
    va_list args;
    va_start(args, goal);
    put(row->goal, sizeof row->goal, goal, args);
    va_end(args);
    if (row->finding != FINDING_NOT_MEASURED)
        row->finding = is_met ? FINDING_MET : FINDING_MISSED;
}

void row_note(Row *row, const char *note, ...)
{
    size_t used = strlen(row->note);
    if (used && used + 3 < sizeof row->note) {
        memcpy(row->note + used, "; ", 3);
        used += 2;
    }
    va_list args;
    va_start(args, note);
    put(row->note + used, sizeof row->note - used, note, args);
    va_end(args);
}

void row_fail(Row *row, const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    put(row->note, sizeof row->note, reason, args);
    va_end(args);
    row->finding = FINDING_NOT_MEASURED;
}

static void number(Str *out, double value, const char *unit)
{
    if (isnan(value))
        str_add(out, "-");
    else if (fabs(value) >= 10000)
        str_addf(out, "%.0f %s", value, unit);
    else if (fabs(value) >= 100)
        str_addf(out, "%.1f %s", value, unit);
    else
        str_addf(out, "%.3g %s", value, unit);
}

enum { COLUMNS = 7 };
static const char *const heads[COLUMNS] = {"metric", "floor", "peer", "otto",
                                           "ratio",  "goal",  "met?"};

static void cells(const Row *row, Str out[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        str_clear(&out[i]);
    str_addf(&out[0], "%-3s %s", row->id, row->metric);
    number(&out[1], row->floor, row->unit);
    number(&out[2], row->peer, row->unit);
    if (isnan(row->peer) && row->peer_name[0])
        str_addf(&out[2], " (%s)", row->peer_name);
    number(&out[3], row->otto, row->unit);
    if (isnan(row->ratio))
        str_add(&out[4], "-");
    else
        str_addf(&out[4], "%.2f x", row->ratio);
    str_add(&out[5], row->goal[0] ? row->goal : "-");
    str_add(&out[6], finding_words[row->finding]);
}

static void print_line(const Str line[COLUMNS], const size_t width[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        printf("%s%-*s", i ? " | " : "", i + 1 < COLUMNS ? (int)width[i] : 0, str_text(&line[i]));
    printf("\n");
}

static void print_notes(const Row *row)
{
    if (!isnan(row->floor) && row->floor_name[0])
        printf("      floor: %s\n", row->floor_name);
    if (!isnan(row->peer) && row->peer_name[0])
        printf("      peer: %s\n", row->peer_name);
    if (row->note[0])
        printf("      %s%s\n", row->finding == FINDING_NOT_MEASURED ? "not measured: " : "",
               row->note);
}

void table_print(const Table *table)
{
    Str line[COLUMNS] = {STR_INIT};
    size_t width[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        width[i] = strlen(heads[i]);
    for (size_t r = 0; r < table->count; r++) {
        cells(&table->rows[r], line);
        for (size_t i = 0; i < COLUMNS; i++)
            width[i] = MAX(width[i], line[i].length);
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        str_clear(&line[i]);
        str_add(&line[i], heads[i]);
    }
    print_line(line, width);
    for (size_t r = 0; r < table->count; r++) {
        cells(&table->rows[r], line);
        print_line(line, width);
        print_notes(&table->rows[r]);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        str_done(&line[i]);
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *row_json(const Row *row)
{
    json_t *out = json_object();
    json_object_set_new(out, "id", json_string(row->id));
    json_object_set_new(out, "metric", json_string(row->metric));
    json_object_set_new(out, "unit", json_string(row->unit));
    json_object_set_new(out, "floor", real_or_null(row->floor));
    json_object_set_new(out, "floor_name", json_string(row->floor_name));
    json_object_set_new(out, "peer", real_or_null(row->peer));
    json_object_set_new(out, "peer_name", json_string(row->peer_name));
    json_object_set_new(out, "otto", real_or_null(row->otto));
    json_object_set_new(out, "ratio", real_or_null(row->ratio));
    json_object_set_new(out, "goal", json_string(row->goal));
    json_object_set_new(out, "finding", json_string(finding_words[row->finding]));
    /* A reason may quote what a program printed. */
    json_t *note = json_string(row->note);
    json_object_set_new(out, "note", note ? note : json_string("(not valid UTF-8)"));
    return out;
}

bool table_save(const Table *table, json_t *about, const char *path, Err *err)
{
    CLEANUP(json_freep) json_t *root = json_object();
    json_t *rows = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_append_new(rows, row_json(&table->rows[i]));
    json_object_set_new(root, "about", about);
    json_object_set_new(root, "rows", rows);
    CLEANUP(mem_freep) char *text = json_write_pretty(root);
    return file_write_plain(path, text, strlen(text), 0644, err);
}

void table_done(Table *table)
{
    free(table->rows);
    *table = (Table){0};
}
