/* The list of changed files, as git tells it. Private to change*.c. */
#pragma once
#include "git/cmd.h"

typedef struct ChangeFile {
    char status; /* A M D R T */
    bool is_binary;
    bool is_gitlink;        /* a commit of another repository on either side: no lines */
    const char *path;       /* bytes; the new name */
    const char *old;        /* of a renamed one; NULL else */
    Oid from, to;           /* what it was, what it is; unset where it is not there */
    int64_t added, removed; /* lines */
} ChangeFile;

typedef struct ChangeList {
    ChangeFile *files;
    size_t count;
    bool is_cut; /* there were more */
    GitOut said; /* holds the names */
} ChangeList;
#define CHANGE_LIST_INIT                                                                           \
    {                                                                                              \
        NULL, 0, false, GIT_OUT_INIT                                                               \
    }

/* from, to: names of trees or commits. */
bool change_list(const Git *git, const char *from, const char *to, ChangeList *list,
                 Err *err) NODISCARD;
void change_list_done(ChangeList *list);
