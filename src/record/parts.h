/* The parts that reports, summaries and exports are put together from. Each section writes its
 * own heading, and nothing at all when there is nothing to say. */
#pragma once
#include "record/doc.h"
#include "record/past.h"

/* timeline.c */
const char *flow_line(Past *past); /* "plan → verify → check(PASS) → exec" */
void part_timeline(Doc *doc, Past *past);
json_t *timeline_json(Past *past);
void timeline_text(Past *past, Str *out);

/* part_goal.c */
void part_objective(Doc *doc, Past *past);
void part_requirements(Doc *doc, Past *past); /* the table of R# */
void part_plan(Doc *doc, Past *past);
void plan_body(Doc *doc, const StoreRecord *plan); /* one plan, without heading */
void part_target_file(Past *past, RecordLayout layout, Str *out);

/* part_proof.c */
void part_verification(Doc *doc, Past *past);
void verify_body(Doc *doc, Past *past, const StoreRecord *verify);
void part_green(Doc *doc, Past *past);
void part_guards(Doc *doc, Past *past);
void guard_body(Doc *doc, const StoreRecord *guard);
bool guard_has_fired(const StoreRecord *guard); /* a record is also made when none did */
void check_colours(Doc *doc, Past *past);

/* part_check.c */
void part_checks(Doc *doc, Past *past);
void check_body(Doc *doc, const StoreRecord *check);
const char *check_verdict(Past *past, const StoreRecord *check);
/* "post-exec NEEDS_FIX: overall 0.62 is below 0.75". */
const char *check_line(Past *past, const StoreRecord *check);

/* part_stage.c */
void part_convergence(Doc *doc, Past *past);
void convergence_body(Doc *doc, const StoreRecord *convergence);
const char *convergence_line(Past *past, const StoreRecord *convergence); /* "0.40 → 0.62" */
void part_stages(Doc *doc, Past *past);
void part_failures(Doc *doc, Past *past);

/* part_story.c */
void part_facts(Doc *doc, Past *past);
void part_changes(Doc *doc, Past *past);
void part_issues(Doc *doc, Past *past);
void part_notes(Doc *doc, Past *past);
void part_feedback(Doc *doc, Past *past);
void feedback_body(Doc *doc, const StoreRecord *feedback);
void part_dependencies(Doc *doc, Past *past);
void part_lessons(Doc *doc, Past *past);
void part_others(Doc *doc, Past *past);
void part_cost(Doc *doc, Past *past);

/* values.c: small readings of JSON */
/* "a, b, c" of a list of texts; "" none. */
const char *json_words(Arena *arena, const json_t *list);
/* A number as text, at most four digits after the point and two at least where it has any; "" for
 * anything else. */
const char *json_number_text(Arena *arena, const json_t *value);
/* A text, a number or true/false as text; "" for anything else. */
const char *json_any_text(Arena *arena, const json_t *value);
bool json_has_items(const json_t *list); /* an array that is not empty */

/* summary.c, report.c */
void summary_write(Past *past, RecordLayout layout, Str *out);
void report_write(Past *past, RecordFormat format, Str *out);
