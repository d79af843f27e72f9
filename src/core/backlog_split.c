/* Backlog: cutting a file into tasks. See backlog.h for the rule. */
#include "core/backlog_parts.h"

typedef struct Line {
    const char *text; /* not terminated */
    size_t length;    /* without the newline */
    int number;
} Line;

/* Walks over lines and knows whether one lies in a code fence. */
typedef struct Walker {
    const char *at;
    int number;     /* of the last line */
    char fence;     /* '`' or '~' while inside one, else 0 */
    size_t ticks;   /* of the opening fence */
    int fence_line; /* where it was opened */
} Walker;

static bool walker_next(Walker *walker, Line *line)
{
    if (!*walker->at)
        return false;
    size_t length = strcspn(walker->at, "\n");
    *line = (Line){walker->at, length, ++walker->number};
    walker->at += length + (walker->at[length] == '\n');
    return true;
}

static size_t blanks(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && text[count] == ' ')
        count++;
    return count;
}

static bool only_blanks(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t')
            return false;
    return true;
}

/* Follows the fences (three or more ` or ~). true: the line is a fence or lies in one. */
static bool walker_fenced(Walker *walker, const Line *line)
{
    size_t start = blanks(line->text, line->length), end = start;
    char c = start < line->length ? line->text[start] : 0;
    while (end < line->length && line->text[end] == c)
        end++;
    bool is_fence = (c == '`' || c == '~') && end - start >= 3 &&
                    (c == '~' || !memchr(line->text + end, '`', line->length - end));
    if (!walker->fence) {
        if (is_fence)
            *walker = (Walker){walker->at, walker->number, c, end - start, line->number};
        return is_fence;
    }
    if (is_fence && c == walker->fence && end - start >= walker->ticks &&
        only_blanks(line->text + end, line->length - end))
        walker->fence = 0;
    return true;
}

static bool walker_ended(const Walker *walker, Err *err)
{
    if (walker->fence)
        return err_set(err, ERR_USAGE, "%d: the code fence opened here is never closed",
                       walker->fence_line);
    return true;
}

static bool is_dashes(const Line *line)
{
    return line->length >= 3 && memcmp(line->text, "---", 3) == 0 &&
           only_blanks(line->text + 3, line->length - 3);
}

/* Level of a heading (1..6) and its text, or 0. */
static int heading(const Line *line, Arena *arena, const char **title)
{
    size_t marks = 0, end = line->length;
    while (marks < end && line->text[marks] == '#')
        marks++;
    if (marks < 1 || marks > 6 || marks == end || line->text[marks] != ' ')
        return 0;
    size_t start = marks + blanks(line->text + marks, end - marks);
    while (end > start && strchr(" \t#", line->text[end - 1]))
        end--; /* closing marks of "# title #" as well */
    if (title)
        *title = arena_strndup(arena, line->text + start, end - start);
    return (int)marks;
}

/* A list item with a box. *is_open: not yet done. */
static bool box(const Line *line, Arena *arena, bool *is_open, const char **title)
{
    const char *t = line->text;
    if (line->length < 6 || !strchr("-*+", t[0]) || t[1] != ' ' || t[2] != '[' || t[4] != ']' ||
        t[5] != ' ' || !strchr(" xX", t[3]))
        return false;
    size_t start = 6 + blanks(t + 6, line->length - 6), end = line->length;
    while (end > start && strchr(" \t", t[end - 1]))
        end--;
    *is_open = t[3] == ' ';
    *title = arena_strndup(arena, t + start, end - start);
    return true;
}

static BacklogPart *part_add(BacklogParts *parts, Arena *arena, int line, Err *err)
{
    if (!parts->items)
        parts->items = arena_alloc(arena, BACKLOG_MOST_TASKS * sizeof *parts->items);
    if (parts->count == BACKLOG_MOST_TASKS) {
        (void)err_set(err, ERR_TOO_BIG, "%d: more than %d tasks in one file", line,
                      BACKLOG_MOST_TASKS); /* NULL says it failed */
        return NULL;
    }
    BacklogPart *part = &parts->items[parts->count++];
    *part = (BacklogPart){.line = line, .body = ""};
    return part;
}

/* Cuts blank lines at both ends, keeps the inner text as it is. */
static bool part_body(BacklogPart *part, const char *from, const char *to, Arena *arena, Err *err)
{
    while (from < to) {
        size_t length = strcspn(from, "\n");
        if (!only_blanks(from, length))
            break;
        from += length + 1;
    }
    while (to > from && strchr(" \t\n", to[-1]))
        to--;
    if (from >= to)
        return true;
    if (to - from > BACKLOG_MOST_BODY)
        return err_set(err, ERR_TOO_BIG, "%d: the text of this task is longer than %d KB",
                       part->line, BACKLOG_MOST_BODY >> 10);
    part->body = arena_strndup(arena, from, (size_t)(to - from));
    return true;
}

/* The first heading of a body can be the title; it leaves the body when it opens it. */
static bool part_heading(BacklogPart *part, Arena *arena, Err *err)
{
    Walker walker = {.at = part->body};
    Line line;
    while (walker_next(&walker, &line)) {
        if (walker_fenced(&walker, &line) || !heading(&line, arena, &part->title))
            continue;
        if (line.text == part->body)
            return part_body(part, walker.at, walker.at + strlen(walker.at), arena, err);
        return true;
    }
    return true;
}

static bool read_yaml_block(Walker *walker, BacklogPart *part, Err *err)
{
    Line line;
    part->yaml = walker->at;
    part->yaml_line = walker->number + 1;
    while (walker_next(walker, &line))
        if (is_dashes(&line)) {
            part->yaml_length = (size_t)(line.text - part->yaml);
            return true;
        }
    return err_set(err, ERR_USAGE,
                   "%d: the front matter that begins here has no closing '---' (write '***' "
                   "for a ruler)",
                   part->line);
}

static bool end_block_task(BacklogPart *part, const char *from, const char *to, Arena *arena,
                           Err *err)
{
    return part_body(part, from, to, arena, err) && part_heading(part, arena, err);
}

/* Rule a. The walker stands after the first `---`. */
static bool split_blocks(const char *text, Arena *arena, BacklogParts *parts, Err *err)
{
    Walker walker = {.at = text};
    BacklogPart *part = NULL;
    const char *body = NULL;
    Line line;
    while (walker_next(&walker, &line)) {
        if (walker_fenced(&walker, &line) || !is_dashes(&line))
            continue;
        if (part && !end_block_task(part, body, line.text, arena, err))
            return false;
        part = part_add(parts, arena, line.number, err);
        if (!part || !read_yaml_block(&walker, part, err))
            return false;
        body = walker.at;
    }
    return walker_ended(&walker, err) &&
           (!part || end_block_task(part, body, walker.at, arena, err));
}

static int shallowest(const char *text, Err *err)
{
    Walker walker = {.at = text};
    int best = 0;
    Line line;
    while (walker_next(&walker, &line)) {
        int level = walker_fenced(&walker, &line) ? 0 : heading(&line, NULL, NULL);
        if (level && (!best || level < best))
            best = level;
    }
    return walker_ended(&walker, err) ? best : -1;
}

/* Rule b. */
static bool split_headings(const char *text, int level, Arena *arena, BacklogParts *parts, Err *err)
{
    Walker walker = {.at = text};
    BacklogPart *part = NULL;
    const char *body = NULL, *title;
    Line line;
    while (walker_next(&walker, &line)) {
        if (walker_fenced(&walker, &line) || heading(&line, arena, &title) != level)
            continue;
        if (part && !part_body(part, body, line.text, arena, err))
            return false;
        if (!(part = part_add(parts, arena, line.number, err)))
            return false;
        part->title = title;
        body = walker.at;
    }
    return !part || part_body(part, body, walker.at, arena, err);
}

/* Rule c. A line that is not indented ends the item. */
static bool split_boxes(const char *text, Arena *arena, BacklogParts *parts, Err *err)
{
    Walker walker = {.at = text};
    BacklogPart *part = NULL;
    const char *body = NULL, *title;
    bool is_open;
    Line line;
    while (walker_next(&walker, &line)) {
        bool is_inner =
            walker_fenced(&walker, &line) || !line.length || strchr(" \t", line.text[0]);
        if (is_inner)
            continue;
        if (part && !part_body(part, body, line.text, arena, err))
            return false;
        part = NULL;
        if (!box(&line, arena, &is_open, &title) || !is_open)
            continue;
        if (!(part = part_add(parts, arena, line.number, err)))
            return false;
        part->title = title;
        body = walker.at;
    }
    return !part || part_body(part, body, walker.at, arena, err);
}

bool backlog_split(const char *text, Arena *arena, BacklogParts *parts, Err *err)
{
    Walker walker = {.at = text};
    Line line = {0};
    while (walker_next(&walker, &line) && only_blanks(line.text, line.length))
        continue;
    if (is_dashes(&line))
        return split_blocks(text, arena, parts, err);
    int level = shallowest(text, err);
    if (level < 0)
        return false;
    return level ? split_headings(text, level, arena, parts, err)
                 : split_boxes(text, arena, parts, err);
}
