/* The list of changed files: see change_list.h. */
#include "git/change_list.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 64 << 20 };

/* Fields that end with a NUL byte; a last one that was cut off is none. */
typedef struct Fields {
    const char *at, *end;
} Fields;

static const char *field_next(Fields *fields)
{
    const char *field = fields->at;
    const char *end =
        field < fields->end ? memchr(field, '\0', (size_t)(fields->end - field)) : NULL;
    if (!end)
        return NULL;
    fields->at = end + 1;
    return field;
}

static Oid oid_cut(const char **at)
{
    char text[65] = "";
    size_t size = strcspn(*at, " ");
    if (size < sizeof text)
        memcpy(text, *at, size);
    *at += size + ((*at)[size] == ' ');
    Oid oid = oid_from(text);
    if (strspn(oid.hex, "0") == strlen(oid.hex))
        oid.hex[0] = '\0'; /* not there */
    return oid;
}

/* ":OLDMODE NEWMODE OLDOID NEWOID STATUS", then the path, of a renamed one both paths. */
static bool raw_take(Fields *fields, ChangeFile *file)
{
    const char *head = field_next(fields);
    if (!head || strlen(head) < 15)
        return false;
    file->is_gitlink = strncmp(head + 1, "160000", 6) == 0 || strncmp(head + 8, "160000", 6) == 0;
    const char *at = head + 15;
    file->from = oid_cut(&at);
    file->to = oid_cut(&at);
    file->status = *at && strchr("AMDRT", *at) ? *at : 'M';
    file->old = file->status == 'R' ? field_next(fields) : NULL;
    file->path = field_next(fields);
    return file->path && (file->status != 'R' || file->old);
}

static void file_add(ChangeList *list, size_t *size, const ChangeFile *file)
{
    if (list->count == *size) {
        *size = *size ? *size * 2 : 64;
        list->files = mem_grow(list->files, *size, sizeof *list->files);
    }
    list->files[list->count++] = *file;
}

/* "ADDED<tab>REMOVED<tab>PATH", of a renamed one an empty path and then both; "-" for binary. */
static bool counts_take(Fields *fields, ChangeList *list, size_t *from)
{
    const char *head = field_next(fields);
    const char *tab = head ? strchr(head, '\t') : NULL, *last = tab ? strchr(tab + 1, '\t') : NULL;
    if (!last)
        return false;
    const char *path = last + 1;
    if (!*path && field_next(fields)) /* the old one */
        path = field_next(fields);
    for (size_t i = *from; path && i < list->count; i++) { /* both lists have the same order */
        ChangeFile *file = &list->files[i];
        if (strcmp(file->path, path) != 0)
            continue;
        file->is_binary = head[0] == '-';
        file->added = file->is_binary ? 0 : strtoll(head, NULL, 10);
        file->removed = file->is_binary ? 0 : strtoll(tab + 1, NULL, 10);
        *from = i + 1;
        break;
    }
    return path != NULL;
}

static void list_take(ChangeList *list)
{
    Fields fields = {list->said.out.bytes, list->said.out.bytes + list->said.out.length};
    ChangeFile file = {0};
    size_t size = 0, from = 0;
    while (fields.at < fields.end && *fields.at == ':' && raw_take(&fields, &file))
        file_add(list, &size, &file);
    while (fields.at < fields.end && counts_take(&fields, list, &from))
        ;
    list->is_cut = list->said.is_cut || fields.at < fields.end;
}

bool change_list(const Git *git, const char *from, const char *to, ChangeList *list, Err *err)
{
    const char *const *words =
        ARGV("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "-M", "-l1000",
             "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", from, to);
    if (!git_call_limited(git, words, LIST_BYTES, &list->said, err))
        return false;
    if (list->said.code != 0)
        return git_failed(words, &list->said, err);
    if (list->said.out.bytes)
        list_take(list);
    return true;
}

void change_list_done(ChangeList *list)
{
    free(list->files);
    git_out_done(&list->said);
    *list = (ChangeList)CHANGE_LIST_INIT;
}
