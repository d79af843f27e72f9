/* Version 2 of the schema: workflows with stages, and what a task leaves behind on its way.
 *
 * The rows of core/ get columns and nothing else: no index and no reference, because they are
 * written several times per step. Runs of version 1 are of workflow 0 (loop), in stage 1, with no
 * convergence measured. Lists of words (markers, outcomes, modes, colours) are kept as texts
 * without a check: they may grow without a step. A run is named without a reference where 0 stands
 * for none. */
#include "store/migrations.h"

#define ADD(table) "ALTER TABLE " #table " ADD COLUMN "
#define NUMBER(column) #column " INTEGER NOT NULL DEFAULT 0"
#define BYTE(column) NUMBER(column) " " BELOW(column, 256)
#define NEW_FLAG(column) NUMBER(column) " " BELOW(column, 2)
#define WORDS(column) #column " TEXT NOT NULL DEFAULT ''"

/* clang-format off */
const char store_v2[] =
    WIDEN(event, kind, V1_EVENTS, V2_EVENTS)
    WIDEN(run, state, V1_RUN_STATES, V2_RUN_STATES)
    WIDEN(run, stop, V1_STOPS, V2_STOPS)

    ADD(project) "max_steps INTEGER NOT NULL DEFAULT 20;" /* A-198; settings replace it */
    ADD(project) NUMBER(workflow) ";"
    ADD(project) NEW_FLAG(auto_confirm) ";"

    ADD(task) "is_filled INTEGER NOT NULL DEFAULT 1 " BELOW(is_filled, 2) ";" /* they have a title */
    ADD(task) NEW_FLAG(is_confirmed) ";"
    ADD(task) NEW_FLAG(is_refined) ";"
    ADD(task) BYTE(workflow) ";"
    ADD(task) BYTE(next_phase) ";"
    ADD(task_text) WORDS(type) ";"

    ADD(run) BYTE(workflow) ";"
    ADD(run) BYTE(status) ";"
    ADD(run) NUMBER(substate) " " BELOW(substate, V2_SUBSTATES) ";"
    ADD(run) BYTE(result) ";"
    ADD(run) BYTE(gate_limit) ";"
    ADD(run) BYTE(asks) ";"
    ADD(run) NEW_FLAG(is_rolled_back) ";"
    ADD(run) NEW_FLAG(is_review_wanted) ";"
    ADD(run) NUMBER(steps) ";"
    ADD(run) "stage INTEGER NOT NULL DEFAULT 1;"
    ADD(run) NUMBER(step_turns) ";"
    ADD(run) "convergence INTEGER NOT NULL DEFAULT -1;"
    ADD(run) NUMBER(converged) ";"
    ADD(run) NUMBER(gate_tries) ";" /* 64 bits without a sign, stored with one */
    ADD(run) WORDS(good) ";"
    ADD(run_text) WORDS(session) ";"

    ADD(turn) WORDS(phase) ";"
    ADD(turn) WORDS(checkpoint) ";"

    "CREATE TABLE workflow ("
    "  number INTEGER PRIMARY KEY CHECK (number > 0 AND number < 256)," /* a byte in its users */
    "  name TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  at_ms INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE step ("
    "  id INTEGER PRIMARY KEY,"
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  run INTEGER NOT NULL," /* 0 none */
    "  epoch INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  stage INTEGER NOT NULL,"
    "  started_ms INTEGER NOT NULL,"
    "  ended_ms INTEGER NOT NULL,"
    "  phase TEXT NOT NULL,"
    "  checkpoint TEXT NOT NULL,"
    "  result TEXT NOT NULL,"
    "  \"row\" TEXT NOT NULL,"
    "  why TEXT NOT NULL,"
    "  next TEXT NOT NULL,"
    "  status TEXT NOT NULL,"
    "  \"commit\" TEXT NOT NULL,"
    "  agent TEXT NOT NULL,"
    "  prompt_hash TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX step_by_task ON step (task);"

    "CREATE TABLE record ("
    "  id INTEGER PRIMARY KEY,"
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  run INTEGER NOT NULL," /* 0: of the task as a whole */
    "  epoch INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  stage INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL " BELOW(kind, V2_RECORD_KINDS) ","
    "  at_ms INTEGER NOT NULL,"
    "  checkpoint TEXT NOT NULL,"
    "  result TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  data TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX record_by_task ON record (task, kind);"
    "CREATE UNIQUE INDEX record_one_answer ON record (run, epoch, turn)"
    "  WHERE kind = 0 AND run > 0;"

    "CREATE TABLE objective ("
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  number INTEGER NOT NULL CHECK (number > 0),"
    "  " FLAG(is_constraint) ","
    "  stage INTEGER NOT NULL,"
    "  marker TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  PRIMARY KEY (task, number)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE requirement ("
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  number INTEGER NOT NULL CHECK (number > 0),"
    "  item INTEGER NOT NULL," /* 0 none */
    "  weight INTEGER NOT NULL,"
    "  coverage INTEGER NOT NULL,"
    "  previous INTEGER NOT NULL,"
    "  source TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  criteria TEXT NOT NULL,"
    "  reason TEXT NOT NULL,"
    "  PRIMARY KEY (task, number)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE stage ("
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  stage INTEGER NOT NULL CHECK (stage > 0),"
    "  attempt INTEGER NOT NULL CHECK (attempt > 0),"
    "  \"before\" INTEGER NOT NULL,"
    "  \"after\" INTEGER NOT NULL,"
    "  started_ms INTEGER NOT NULL,"
    "  ended_ms INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  objective TEXT NOT NULL,"
    "  moves TEXT NOT NULL,"
    "  reason TEXT NOT NULL,"
    "  outcome TEXT NOT NULL,"
    "  cause TEXT NOT NULL,"
    "  \"commit\" TEXT NOT NULL,"
    "  PRIMARY KEY (task, stage, attempt)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE refinement ("
    "  id INTEGER PRIMARY KEY,"
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  at_ms INTEGER NOT NULL,"
    "  applied_ms INTEGER NOT NULL,"
    "  withdrawn_ms INTEGER NOT NULL,"
    "  impact TEXT NOT NULL,"
    "  touches TEXT NOT NULL,"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX refinement_by_task ON refinement (task);"

    "CREATE TABLE profile ("
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  type TEXT NOT NULL,"
    "  updated_ms INTEGER NOT NULL,"
    "  settings TEXT NOT NULL,"
    "  observed TEXT NOT NULL,"
    "  PRIMARY KEY (project, type)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE experience ("
    "  id INTEGER PRIMARY KEY,"
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  task INTEGER NOT NULL,"
    "  at_ms INTEGER NOT NULL,"
    "  type TEXT NOT NULL,"
    "  quality TEXT NOT NULL,"
    "  topic TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  UNIQUE (task, topic, type, project)" /* also finds those of a task */
    ") STRICT;"
    "CREATE INDEX experience_by_time ON experience (project, at_ms);"

    "CREATE TABLE plan_check ("
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  number INTEGER NOT NULL CHECK (number > 0),"
    "  step INTEGER NOT NULL,"
    "  at_ms INTEGER NOT NULL,"
    "  mode TEXT NOT NULL,"
    "  state TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  command TEXT NOT NULL,"
    "  PRIMARY KEY (task, number)"
    ") STRICT, WITHOUT ROWID;";
/* clang-format on */
