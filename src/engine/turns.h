/* Turns, inside: shared by turns.c (hearing, ending, stopping) and launch.c (beginning). */
#pragma once
#include "engine/internal.h"

extern const KeepCalls turn_keep_calls;

/* turns.c */
void turn_free(LiveTurn *turn);
void turn_name(const Act *act, char out[48]);
void turn_answer_name(const Act *act, char out[64]); /* OTTO_ANSWER, in the folder of the runs */
void turn_drop_copy(LiveTurn *turn);                 /* the copy that a reviewer worked on */
void turn_signal_found(void *user, const Signal *signal);
void turn_agent_event(void *user, const AgentEvent *event);

/* launch.c */
bool turn_launch(LiveTurn *turn, Err *err);
bool turn_attach(LiveTurn *turn, Err *err);        /* ERR_NOT_FOUND: nobody began it */
bool review_begin(LiveTurn *turn, const Run *run); /* true: it begins when its copy is there */
void turn_refuse(LiveTurn *turn, const Err *err);  /* it cannot begin; frees it */
