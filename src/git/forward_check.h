/* May the files of a checked-out branch be moved forward? Only looks, changes nothing. */
#pragma once
#include "git/cmd.h"
#include "git/repo.h"

typedef struct ForwardCheck {
    const Git *hub;
    const RepoTree *tree;
    const char *common;
    const Oid *old, *new;
    bool is_started; /* an earlier worker may have written some of the new files */
} ForwardCheck;

/* why stays empty when they may. is_filtered: only the user's own git can write these files. */
bool forward_check(const ForwardCheck *check, char *why, size_t size, bool *is_filtered,
                   Err *err) NODISCARD;
