/* Shared by the answer*.c files only: walking the paths of a shape. */
#pragma once
#include "core/answer.h"

#define ANSWER_STEP_WORD "(step-N)"

/* The path of the object or list that holds the field is prefix. */
bool answer_is_child(const AnswerField *field, const char *prefix, size_t length);
/* Its last part: "mode"; "[]" for the items of a list. */
const char *answer_last_part(const char *path);
/* "a text of 1 to 500 characters", "one of: …" */
void answer_expected(const AnswerField *field, Str *out);
