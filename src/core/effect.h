/* Effects: what must now be done. A run owes at most one at a time, named by its state, so the row
 * of the run is the record of the debt and survives any crash with it. */
#pragma once
#include "core/types.h"

/*    effect          word           carried out by */
#define EFFECTS(X)                                                                                 \
    X(FX_NONE, "none", "nothing")                                                                  \
    X(FX_PREPARE, "prepare", "make the workspace of the run's epoch")                              \
    X(FX_START_TURN, "start-turn", "send the next prompt to the agent")                            \
    X(FX_STOP_TURN, "stop-turn", "ask the agent to stop, then kill its tree")                      \
    X(FX_KILL_TURN, "kill-turn", "kill the agent's tree at once")                                  \
    X(FX_SNAPSHOT, "snapshot", "import and save what the turn wrote")                              \
    X(FX_GATE, "gate", "check the claim on a clean checkout of the commit")                        \
    X(FX_MERGE, "merge", "compute the merge into the target")                                      \
    X(FX_MERGE_GATE, "merge-gate", "check the merged tree")                                        \
    X(FX_LAND, "land", "move the target branch by compare-and-swap")                               \
    X(FX_RETIRE, "retire", "put the workspace away, with proof")                                   \
    X(FX_REPORT, "report", "write the report of the task")                                         \
    X(FX_RESET, "reset", "put the workspace aside and go back to the good commit")                 \
    X(FX_ROLLBACK, "rollback", "revert what the task landed")                                      \
    X(FX_NOTICE, "notice", "tell a person")                                                        \
    X(FX_AUTOPILOT_ENDED, "autopilot-ended", "nothing is left that could be done now")

typedef enum EffectKind {
#define X(effect, word, help) effect,
    EFFECTS(X)
#undef X
        EFFECT_COUNT
} EffectKind;

typedef struct Effect {
    EffectKind kind;
    ProjectId project;
    TaskId task;
    RunId run;
    uint32_t epoch, turn;
    const char *text; /* of a notice; a constant or owned by the machine until effects are taken */
} Effect;

const char *effect_word(EffectKind effect);
EffectKind run_owes(RunState state); /* from the table of run states */
