/* The verification gate: which commands prove a claim, and what their results mean (D-64 to D-87).
 *
 * The setting is a list of commands (texts or objects), or an object {default_timeout, commands};
 * no setting and an empty list are the same (D-77). verification_read makes the plain form. The
 * results are judged in the order of the commands; the first required failure ends the gate. While
 * results are missing and nothing required has failed, the verdict is open. Pure. */
#pragma once
#include "base/arena.h"
#include "base/json.h"

enum {
    VERIFY_DEFAULT_TIMEOUT_S = 300, /* D-72 */
    VERIFY_TIMEOUT_MAX_S = 7 * 24 * 3600,
    VERIFY_COMMANDS_MAX = 1000,
};

typedef struct VerifyCommand {
    const char *name;    /* shown; the command's text by default (D-85) */
    const char *command; /* shell text that the user wrote */
    int64_t timeout_s;
    bool is_required;
} VerifyCommand;

typedef struct VerifyConfig {
    const VerifyCommand *commands;
    size_t count;
} VerifyConfig;

/* What is wrong with a setting, and where. */
typedef struct VerifyProblem {
    char field[96];      /* "commands[2].timeout", "[0]"; "" for the whole */
    const json_t *value; /* borrowed; NULL when missing */
    char message[256];
} VerifyProblem;

/* Texts are borrowed from config or from the arena. config may be NULL. false: see problem. */
bool verification_read(const json_t *config, Arena *arena, VerifyConfig *out,
                       VerifyProblem *problem) NODISCARD;

typedef struct VerifyResult {
    bool is_timed_out;
    int exit_code;
} VerifyResult;

typedef enum VerifyVerdict { VERIFY_OPEN, VERIFY_PASS, VERIFY_FAIL } VerifyVerdict;

typedef struct VerifyRow {
    const char *id;
    VerifyVerdict verdict; /* of this command: OPEN goes on to the next */
    const char *error;     /* code of a failed gate; NULL none */
    const char *warning;   /* code of a warning; NULL none */
    const char *why;
} VerifyRow;

/* One result: what it means. Never NULL. */
const VerifyRow *verification_step(const VerifyCommand *command, const VerifyResult *result);

typedef struct VerifyJudgement {
    VerifyVerdict verdict;
    const VerifyRow *row; /* that decided */
    size_t command;       /* index of the failed or of the next command; count when none */
} VerifyJudgement;

VerifyJudgement verification_judge(const VerifyConfig *config, const VerifyResult *results,
                                   size_t result_count);
const VerifyRow *verification_rows(size_t *count); /* for tests and documents */
