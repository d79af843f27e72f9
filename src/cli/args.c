/* Flags and words: see args.h. */
#include "cli/args.h"
#include "base/macros.h"
#include "base/str.h"
#include "core/field.h"
#include <inttypes.h>
#include <string.h>

typedef struct Reader {
    const Flag *own, *common;
    int count, at;
    char **argv;
    Args *args;
} Reader;

static const Flag *find_in(const Flag *table, const char *name, size_t length, char letter)
{
    for (const Flag *flag = table; flag && flag->name; flag++) {
        bool is_named = name && strlen(flag->name) == length && !memcmp(flag->name, name, length);
        if (is_named || (letter && flag->letter == letter))
            return flag;
    }
    return NULL;
}

static const Flag *find_flag(const Reader *reader, const char *name, size_t length, char letter)
{
    const Flag *flag = find_in(reader->own, name, length, letter);
    return flag ? flag : find_in(reader->common, name, length, letter);
}

static bool unknown_flag(const Reader *reader, const char *word, Err *err)
{
    const char *names[64];
    size_t count = 0, length = strcspn(word, "=");
    const Flag *tables[] = {reader->own, reader->common};
    for (size_t i = 0; i < COUNT(tables); i++)
        for (const Flag *flag = tables[i]; flag && flag->name && count < COUNT(names); flag++)
            names[count++] = flag->name;
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "%.*s", (int)MIN(length, sizeof wanted), word); /* cut */
    const char *dashes = wanted[0] == '-' && wanted[1] == '-' ? "" : "-";
    const char *near = *dashes ? NULL : text_nearest(wanted + 2, names, count);
    if (near)
        return err_set(err, ERR_USAGE, "unknown flag '%s', did you mean '--%s'?", wanted, near);
    return err_set(err, ERR_USAGE, "unknown flag '%s'; --help lists the flags", wanted);
}

static bool add_value(Reader *reader, const Flag *flag, const char *text, Err *err)
{
    Args *args = reader->args;
    ArgValue value = {.flag = flag, .text = text};
    if (args->value_count == ARGS_MOST)
        return err_set(err, ERR_USAGE, "more than %d flags", ARGS_MOST);
    bool is_number = flag->kind == FLAG_INT && text_to_int(text, &value.number);
    if (flag->kind == FLAG_INT &&
        (!is_number || value.number < flag->min || value.number > flag->max))
        return err_set(err, ERR_USAGE,
                       "--%s wants a whole number from %" PRId64 " to %" PRId64 ", not '%.60s'",
                       flag->name, flag->min, flag->max, text);
    args->values[args->value_count++] = value;
    return true;
}

/* The value stands in the same word (after = or the letter) or is the next word. */
static bool take_value(Reader *reader, const Flag *flag, const char *inside, Err *err)
{
    if (!inside && reader->at + 1 < reader->count)
        inside = reader->argv[++reader->at];
    if (!inside)
        return err_set(err, ERR_USAGE, "--%s wants a value: --%s %s", flag->name, flag->name,
                       flag->value);
    return add_value(reader, flag, inside, err);
}

static bool take_long(Reader *reader, const char *word, Err *err)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *inside = name[length] ? name + length + 1 : NULL;
    const Flag *flag = find_flag(reader, name, length, 0);
    if (!flag)
        return unknown_flag(reader, word, err);
    if (flag->kind != FLAG_BOOL)
        return take_value(reader, flag, inside, err);
    if (inside)
        return err_set(err, ERR_USAGE, "--%s takes no value", flag->name);
    return add_value(reader, flag, NULL, err);
}

static bool take_letters(Reader *reader, const char *word, Err *err)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const Flag *flag = find_flag(reader, NULL, 0, *letter);
        if (!flag)
            return unknown_flag(reader, word, err);
        if (flag->kind != FLAG_BOOL)
            return take_value(reader, flag, letter[1] ? letter + 1 : NULL, err);
        if (!add_value(reader, flag, NULL, err))
            return false;
    }
    return true;
}

static bool add_word(Reader *reader, const char *word, Err *err)
{
    if (reader->args->word_count == ARGS_MOST)
        return err_set(err, ERR_USAGE, "more than %d words", ARGS_MOST);
    reader->args->words[reader->args->word_count++] = word;
    return true;
}

bool args_parse(const Flag *own, const Flag *common, int count, char **argv, Args *args, Err *err)
{
    Reader reader = {.own = own, .common = common, .count = count, .argv = argv, .args = args};
    bool only_words = false;
    args->value_count = args->word_count = 0;
    for (; reader.at < count; reader.at++) {
        const char *word = argv[reader.at];
        int64_t number;
        bool is_flag = !only_words && word[0] == '-' && word[1] && !text_to_int(word, &number);
        if (is_flag && text_equal(word, "--"))
            only_words = true;
        else if (!(!is_flag                  ? add_word(&reader, word, err)
                   : text_starts(word, "--") ? take_long(&reader, word, err)
                                             : take_letters(&reader, word, err)))
            return false;
    }
    return true;
}

static const ArgValue *find_value(const Args *args, const char *name)
{
    for (size_t i = args->value_count; i-- > 0;)
        if (text_equal(args->values[i].flag->name, name))
            return &args->values[i];
    return NULL;
}

bool args_has(const Args *args, const char *name)
{
    return find_value(args, name) != NULL;
}

const char *args_text(const Args *args, const char *name, const char *fallback)
{
    const ArgValue *value = find_value(args, name);
    return value ? value->text : fallback;
}

int64_t args_int(const Args *args, const char *name, int64_t fallback)
{
    const ArgValue *value = find_value(args, name);
    return value ? value->number : fallback;
}

const char *args_item(const Args *args, const char *name, size_t index)
{
    for (size_t i = 0; i < args->value_count; i++)
        if (text_equal(args->values[i].flag->name, name) && index-- == 0)
            return args->values[i].text;
    return NULL;
}
