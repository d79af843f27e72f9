/* Globs: a pattern becomes a row of tokens; all the places it could be at are followed together, so
 * that no pattern makes the match take more than tokens × characters steps. */
#include "core/change.h"
#include <string.h>

typedef enum TokenKind {
    TOKEN_ONE,    /* this character */
    TOKEN_ANY,    /* one character within a name */
    TOKEN_SET,    /* one of a set */
    TOKEN_STAR,   /* any number of them within a name */
    TOKEN_DEEP,   /* any number of characters at all: the last two stars */
    TOKEN_DIRS,   /* the entrance of the next: no folder at all */
    TOKEN_INSIDE, /* whole folders, each with its slash */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    uint32_t character;
    const char *set; /* behind the bracket; with its length */
    size_t set_length;
} Token;

typedef struct Glob {
    Token tokens[GLOB_LENGTH_MAX + 2];
    size_t count;
} Glob;

/* One character; an invalid byte stands for itself beyond Unicode. */
static size_t next_character(const char *text, uint32_t *out)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = utf8_length(text, strnlen(text, 4));
    *out = length <= 1 ? s[0] + (length ? 0 : 0x200000U) : s[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++)
        *out = *out << 6 | (s[i] & 0x3fU);
    return length ? length : 1;
}

static bool set_has(const Token *token, uint32_t character)
{
    const char *at = token->set, *end = token->set + token->set_length;
    bool is_negated = at < end && (*at == '!' || *at == '^'), is_in = false;
    at += is_negated;
    while (at < end) {
        uint32_t low, high;
        at += next_character(at, &low);
        high = low;
        if (at + 1 < end && *at == '-')
            at += 1 + next_character(at + 1, &high);
        is_in = is_in || (character >= low && character <= high);
    }
    return is_in != is_negated && character != '/';
}

/* The closing bracket; a ']' that comes first is a member. NULL: the bracket is a plain one. */
static const char *set_end(const char *open)
{
    const char *at = open + 1;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    return strchr(at, ']');
}

static void add(Glob *glob, TokenKind kind, uint32_t character)
{
    glob->tokens[glob->count++] = (Token){.kind = kind, .character = character};
}

static const char *add_stars(Glob *glob, const char *at, bool is_name_start)
{
    size_t stars = strspn(at, "*");
    if (stars < 2) {
        add(glob, TOKEN_STAR, 0);
    } else if (is_name_start && at[stars] == '/') {
        add(glob, TOKEN_DIRS, 0);
        add(glob, TOKEN_INSIDE, 0);
        stars++;
    } else {
        add(glob, TOKEN_DEEP, 0);
    }
    return at + stars;
}

static bool compile(const char *pattern, Glob *glob)
{
    unsigned stars = 0;
    glob->count = 0;
    if (strnlen(pattern, GLOB_LENGTH_MAX + 1) > GLOB_LENGTH_MAX)
        return false;
    for (const char *at = pattern; *at;) {
        const char *end = *at == '[' ? set_end(at) : NULL;
        uint32_t character;
        if (*at == '*') {
            at = add_stars(glob, at, at == pattern || at[-1] == '/');
            stars++;
        } else if (*at == '?') {
            add(glob, TOKEN_ANY, 0);
            at++;
        } else if (end) {
            add(glob, TOKEN_SET, 0);
            glob->tokens[glob->count - 1].set = at + 1;
            glob->tokens[glob->count - 1].set_length = (size_t)(end - at - 1);
            at = end + 1;
        } else {
            at += *at == '\\' && at[1];
            at += next_character(at, &character);
            add(glob, TOKEN_ONE, character);
        }
    }
    return stars <= GLOB_STARS_MAX;
}

/* Places that are reached without a character. */
static void spread(const Glob *glob, bool *places)
{
    for (size_t i = 0; i < glob->count; i++) {
        TokenKind kind = glob->tokens[i].kind;
        if (!places[i])
            continue;
        if (kind == TOKEN_STAR || kind == TOKEN_DEEP)
            places[i + 1] = true;
        if (kind == TOKEN_DIRS)
            places[i + 1] = places[i + 2] = true;
    }
}

/* stays: the place is kept after this character; moves: the next one is reached. */
static void take(const Token *token, uint32_t character, bool *stays, bool *moves)
{
    bool is_slash = character == '/';
    *stays = *moves = false;
    switch (token->kind) {
    case TOKEN_ONE:
        *moves = character == token->character;
        return;
    case TOKEN_ANY:
        *moves = !is_slash;
        return;
    case TOKEN_SET:
        *moves = set_has(token, character);
        return;
    case TOKEN_STAR:
        *stays = !is_slash;
        return;
    case TOKEN_DEEP:
        *stays = true;
        return;
    case TOKEN_INSIDE:
        *stays = true;
        *moves = is_slash;
        return;
    case TOKEN_DIRS:
        return;
    }
}

bool glob_match(const char *pattern, const char *path)
{
    Glob glob;
    bool places[2][GLOB_LENGTH_MAX + 4] = {{true}};
    unsigned now = 0;
    if (!compile(pattern, &glob))
        return false;
    spread(&glob, places[now]);
    while (*path) {
        bool *from = places[now], *to = places[!now], is_alive = false;
        uint32_t character;
        path += next_character(path, &character);
        memset(to, 0, glob.count + 3);
        for (size_t i = 0; i < glob.count; i++) {
            bool stays, moves;
            if (!from[i])
                continue;
            take(&glob.tokens[i], character, &stays, &moves);
            to[i] = to[i] || stays;
            to[i + 1] = to[i + 1] || moves;
            is_alive = is_alive || stays || moves;
        }
        if (!is_alive)
            return false;
        spread(&glob, to);
        now = !now;
    }
    return places[now][glob.count];
}

bool path_matches(const char *pattern, const char *path)
{
    char buffer[GLOB_LENGTH_MAX + 8];
    const char *from = pattern + (text_starts(pattern, "./") ? 2 : 0);
    bool is_rooted = *from == '/';
    from += is_rooted;
    size_t length = strnlen(from, GLOB_LENGTH_MAX + 1);
    if (length == 0 || length > GLOB_LENGTH_MAX - 8)
        return false;
    bool is_folder = from[length - 1] == '/';
    length -= is_folder;
    const char *head = is_rooted || memchr(from, '/', length) ? "" : "**/";
    (void)snprintf(buffer, sizeof buffer, "%s%.*s", head, (int)length, from); /* bounded above */
    if (!is_folder && glob_match(buffer, path))
        return true;
    (void)snprintf(buffer, sizeof buffer, "%s%.*s/**", head, (int)length, from); /* likewise */
    return glob_match(buffer, path);
}

bool path_matches_any(TextList patterns, const char *path)
{
    for (size_t i = 0; i < patterns.count; i++) {
        if (path_matches(patterns.items[i], path))
            return true;
    }
    return false;
}
