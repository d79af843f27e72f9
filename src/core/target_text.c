/* The target in words: the confirmation prompt and its Markdown. */
#include "core/convergence.h"
#include "core/excerpt.h"
#include "core/target.h"
#include <string.h>

enum { ITEM_BYTES = 300, CELL_BYTES = 1000 };

static size_t requirements_of(const Target *target, uint32_t item)
{
    size_t count = 0;
    for (size_t i = 0; i < target->requirement_count; i++)
        count += target->requirements[i].item == item;
    return count;
}

static size_t item_total(const Target *target, bool is_constraint)
{
    size_t count = 0;
    for (size_t i = 0; i < target->item_count; i++)
        count += target->items[i].is_constraint == is_constraint;
    return count;
}

void target_confirmation(const Target *target, const char *title, unsigned task, Str *out)
{
    size_t goals = item_total(target, false), limits = item_total(target, true);
    str_add(out, "Objective of '");
    excerpt_add(out, title, ITEM_BYTES);
    str_addf(out, "': %zu item%s, %zu requirement%s.\n\n", goals, goals == 1 ? "" : "s",
             target->requirement_count, target->requirement_count == 1 ? "" : "s");
    for (size_t i = 0; i < target->item_count; i++) {
        const TargetItem *item = &target->items[i];
        if (item->is_constraint)
            continue;
        str_addf(out, "%u. ", item->number);
        excerpt_add(out, item->text, ITEM_BYTES);
        str_addf(out, " (R: %zu)%s\n", requirements_of(target, item->number),
                 item->marker && strcmp(item->marker, "pending") == 0 ? " (pending detail)" : "");
    }
    if (limits)
        str_addf(out, "\nConstraints: %zu.\n", limits);
    str_addf(out,
             "\nTo confirm, which starts stage 1 and everything after it:\n"
             "  otto target %u --confirm\n"
             "To adjust first:\n"
             "  otto target %u --refine 'what should be different'\n",
             task, task);
}

static void add_cell(Str *out, const char *text)
{
    CLEANUP(str_done) Str line = STR_INIT;
    excerpt_add(&line, text ? text : "", CELL_BYTES);
    for (const char *at = str_text(&line); *at; at++) {
        if (*at == '|')
            str_add_char(out, '\\');
        str_add_char(out, *at);
    }
}

static void add_requirements(const Target *target, uint32_t item, Str *out)
{
    if (requirements_of(target, item) == 0)
        return;
    str_add(out, "\n| # | requirement | acceptance criteria | weight |\n|---|---|---|---|\n");
    for (size_t i = 0; i < target->requirement_count; i++) {
        const TargetRequirement *requirement = &target->requirements[i];
        if (requirement->item != item)
            continue;
        str_addf(out, "| R%u | ", requirement->number);
        add_cell(out, requirement->text);
        str_add(out, " | ");
        add_cell(out, requirement->criteria);
        str_addf(out, " | %u %s |\n", requirement->weight, weight_word((int)requirement->weight));
    }
    str_add_char(out, '\n');
}

void target_markdown(const Target *target, Str *out)
{
    str_add(out, "# Objective\n\n");
    for (size_t i = 0; i < target->item_count; i++) {
        const TargetItem *item = &target->items[i];
        if (item->is_constraint)
            continue;
        str_add(out, "- ");
        excerpt_add(out, item->text, CELL_BYTES);
        str_addf(out, " (R: %zu)", requirements_of(target, item->number));
        if (item->marker && *item->marker)
            str_addf(out, " [%s]", item->marker);
        str_add_char(out, '\n');
        add_requirements(target, item->number, out);
    }
    add_requirements(target, 0, out);
    if (item_total(target, true))
        str_add(out, "\n## Constraints\n\n");
    for (size_t i = 0; i < target->item_count; i++) {
        if (!target->items[i].is_constraint)
            continue;
        str_add(out, "- ");
        excerpt_add(out, target->items[i].text, CELL_BYTES);
        str_add_char(out, '\n');
    }
}
