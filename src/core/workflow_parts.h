/* Shared by the files that look for mistakes in workflows only. */
#pragma once
#include "core/workflow.h"

typedef struct Check {
    const Workflow *flow;
    Str *out;
    size_t count;
} Check;

void check_problem(Check *check, const char *format, ...) PRINTF(2, 3);
bool wf_covers(const char *a, const char *b);           /* a fits whatever b fits */
bool wf_guard_has(const char *guard, const char *word); /* one of its words */
void check_phase_reach(Check *check);                   /* phases that nothing leads to */
void check_phase_ends(Check *check);                    /* phases without a way out */
void check_circles(Check *check);                       /* endless loops without a limit */
