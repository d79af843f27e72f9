/* What an agent needs to resolve a conflict (D-242): per file, what the other side did and what
 * this side did, with subjects and bounded differences. */
#pragma once
#include "git/mergetree.h"

enum { EXPLAIN_FILES = 10, EXPLAIN_DIFF_BYTES = 4096, EXPLAIN_SUBJECTS = 10 };

bool explain_conflicts(const Git *hub, const Oid *tip, const Oid *commit, const MergeTree *merge,
                       Str *text, Err *err) NODISCARD;
