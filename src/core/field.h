/* Fields: one row says what a key of a settings file, a front matter or a scenario may hold.
 *
 * A row carries its key, type, bounds, default, allowed words and help; reading, showing and the
 * generated pages all go by the row. Pure: works on trees already read and on memory. */
#pragma once
#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

typedef struct TextList {
    const char **items;
    size_t count;
} TextList;

typedef struct TextPair {
    const char *key, *value;
} TextPair;

typedef struct TextMap { /* in the order of the file */
    TextPair *items;
    size_t count;
} TextMap;

/* A program to start: an argument vector, or text that the user wrote for the shell. */
typedef struct CommandText {
    TextList argv;     /* empty when shell is set */
    const char *shell; /* NULL when argv is set */
} CommandText;

/*    type           what is stored at the offset */
#define FIELD_TYPES(X)                                                                             \
    X(FIELD_TEXT, "text")       /* const char * */                                                 \
    X(FIELD_WORD, "word")       /* const char *, one of words */                                   \
    X(FIELD_INT, "number")      /* int64_t */                                                      \
    X(FIELD_REAL, "number")     /* double */                                                       \
    X(FIELD_BOOL, "true/false") /* bool */                                                         \
    X(FIELD_TEXTS, "list")      /* TextList */                                                     \
    X(FIELD_COMMAND, "command") /* CommandText */                                                  \
    X(FIELD_ENV, "map")         /* TextList of NAME=value */                                       \
    X(FIELD_MAP, "map")         /* TextMap; words and check are of the values */                   \
    X(FIELD_OWN, "list or map") /* read by the caller */

typedef enum FieldType {
#define X(type, word) type,
    FIELD_TYPES(X)
#undef X
} FieldType;

typedef struct Field {
    const char *key; /* full path from the root of its table: "limits.max_turns" */
    FieldType type;
    size_t offset;        /* into the struct that the table fills */
    const char *fallback; /* default as text; NULL: none (NULL, 0, false, empty) */
    double min, max;      /* of a number; of a text's characters; of a list's items (and texts) */
    const char *unit;     /* of a number; of a map "key: value"; NULL none */
    const char *words;    /* of FIELD_WORD, FIELD_MAP: separated by single spaces */
    const char *(*check)(const char *text); /* NULL fine, or says what is allowed */
    const char *env;                        /* variable that overrides it; NULL none */
    const char *help;
} Field;

typedef struct FieldTable {
    const Field *rows;
    size_t count;
} FieldTable;

/* Both set base+offset, or leave it alone, return false and say in allowed what would be right. */
bool field_read(const Field *field, const json_t *value, void *base, Arena *arena, Str *allowed);
bool field_parse(const Field *field, const char *text, void *base, Arena *arena, Str *allowed);
void field_defaults(FieldTable table, void *base, Arena *arena);
void field_allowed(const Field *field, Str *out); /* "a whole number from 1 to 64 agents" */
const char *field_type_word(FieldType type);
/* Environment by name only (secrets); a number below 0 where its row has none is unset: null. */
json_t *field_show(const Field *field, const void *base);
const char *text_map_find(const TextMap *map, const char *key); /* or NULL */

/* Exact key, or NULL. */
const Field *field_find(FieldTable table, const char *key);
/* Does any key begin with "group."? */
bool field_is_group(FieldTable table, const char *group);
/* For an unknown key: ", did you mean 'x'?" or, with nothing near, "; known here: a, b". prefix is
 * the path of the map that holds the key ("" for the root). */
void field_suggest(FieldTable table, const char *prefix, const char *key, Str *out);
/* Nearest of the words within a small distance, or NULL. */
const char *text_nearest(const char *text, const char *const *words, size_t count);

/* Checks for rows and for names that are map keys. */
const char *field_check_line(const char *text); /* no control characters */
const char *
field_check_shell(const char *text); /* as field_check_line, but newlines and tabs may stand */
const char *field_check_branch(const char *text); /* what git allows, and no leading '-' */
const char *field_check_name(const char *text);   /* letters, digits, - and _ */
const char *field_check_tag(const char *text);    /* lower-case letters, digits, - */
const char *field_check_inside(const char *text); /* relative path without .. */
const char *field_check_type(const char *text);   /* of a task: segments joined by '|' */
size_t text_characters(const char *text);         /* UTF-8 characters; a bad byte counts as one */
