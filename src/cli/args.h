/* Flags and words of a command, read by a table. Values stay borrowed from argv. */
#pragma once
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef enum FlagKind { FLAG_BOOL, FLAG_TEXT, FLAG_INT, FLAG_LIST } FlagKind;

typedef struct Flag {
    const char *name;  /* without the dashes; NULL ends a table */
    char letter;       /* 0: none */
    FlagKind kind;     /* FLAG_LIST may be given several times */
    const char *value; /* what help calls its value: "N", "FILE"; NULL for FLAG_BOOL */
    const char *help;
    int64_t min, max; /* of FLAG_INT */
} Flag;

typedef struct ArgValue {
    const Flag *flag;
    const char *text; /* NULL for FLAG_BOOL */
    int64_t number;
} ArgValue;

enum { ARGS_MOST = 512 };

typedef struct Args {
    ArgValue values[ARGS_MOST];
    const char *words[ARGS_MOST]; /* what is no flag, in order */
    size_t value_count, word_count;
} Args;

/* Reads argv[0..count): `--name value`, `--name=value`, `-n value`, `-nvalue`, joined letters, `--`
 * ends the flags, a lone `-` is a word. A number such as -5 is no flag. Wrong flags say what was
 * meant. Two tables: the command's and the one of every command. */
bool args_parse(const Flag *own, const Flag *common, int count, char **argv, Args *args,
                Err *err) NODISCARD;

bool args_has(const Args *args, const char *name);
const char *args_text(const Args *args, const char *name, const char *fallback); /* the last one */
int64_t args_int(const Args *args, const char *name, int64_t fallback);
/* The index-th value of a list, or NULL after the last. */
const char *args_item(const Args *args, const char *name, size_t index);
