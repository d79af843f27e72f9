/* The target of a task: is it filled in, are its items and requirements sound, and the one question
 * that is asked before the work starts (A-53, B-74, B-95, B-99 to B-102). Pure. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "core/field.h"

/* Headings, comments and placeholders (TODO, TBD, <…>, …) alone are not content. */
bool target_is_filled(const char *text);

typedef struct TargetItem {
    uint32_t number; /* from 1 */
    bool is_constraint;
    const char *text;
    const char *marker; /* "" in discussion, "confirmed", "processed", "pending" */
} TargetItem;

typedef struct TargetRequirement {
    uint32_t number; /* R# */
    uint32_t item;   /* of which item; 0 none */
    const char *text, *criteria;
    uint32_t weight; /* 1 to 3 */
} TargetRequirement;

typedef struct Target {
    TargetItem *items;
    size_t item_count;
    TargetRequirement *requirements;
    size_t requirement_count;
} Target;

/* What is wrong, one sentence each (B-74, B-99): items without R# (unless pending), R# that are
 * compound, empty, without criteria, of an unknown weight or of no item, texts given twice. */
TextList target_check(const Target *target, Arena *arena);

/* The confirmation prompt, a fixed text (B-95). */
void target_confirmation(const Target *target, const char *title, unsigned task, Str *out);

/* Which item a text means (B-101): its index when it alone shares at least half of its significant
 * words; -1 none; -2 several. */
int target_match(const Target *target, const char *text);

/* Items and R# numbered again from 1, R# grouped by item in the order of the items (B-102).
 * Requirements are reordered in place. */
void target_renumber(Target *target, Arena *arena);
/* Drops an item with its R# and renumbers. false: no such item. */
bool target_drop(Target *target, uint32_t item, Arena *arena);
/* The items as Markdown bullets with (R: N), and a table of R# per item (B-73, B-102). */
void target_markdown(const Target *target, Str *out);
