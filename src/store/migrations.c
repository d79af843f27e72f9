/* The schema, step by step. */
#include "store/migrations.h"
#include "core/event.h"
#include "core/signal.h"
#include "core/types.h"
#include <assert.h>

/* How many values each list of core/ had when the step was written. Values are stored as numbers:
 * from the first release on, new ones go to the end of their list, none is removed, and a step
 * widens the check (WIDEN). Before it, change the number here and write the fixture of
 * tests/store/ anew. That fixture holds the words, so a reordered list is found. */
#define V1_TASK_STATES 9
#define V1_RUN_STATES 14
#define V1_NEEDS 3
#define V1_AUTO_STATES 4
#define V1_STOPS 7
#define V1_SIGNALS 8
#define V1_EVENTS 45

#define LONGER "the list in core/ changed: see the comment in store/migrations.c"
static_assert(TASK_STATE_COUNT == V1_TASK_STATES, LONGER);
static_assert(RUN_STATE_COUNT == V1_RUN_STATES, LONGER);
static_assert(NEED_COUNT == V1_NEEDS, LONGER);
static_assert(AUTO_STATE_COUNT == V1_AUTO_STATES, LONGER);
static_assert(STOP_WISH_COUNT == V1_STOPS, LONGER);
static_assert(SIGNAL_TYPE_COUNT == V1_SIGNALS, LONGER);
static_assert(EVENT_COUNT == V1_EVENTS, LONGER);

#define TEXT_OF(number) #number
#define BELOW(column, count) "CHECK (" #column " >= 0 AND " #column " < " TEXT_OF(count) ")"
#define FLAG(column) #column " INTEGER NOT NULL " BELOW(column, 2)
/* References are checked at the commit, so that rows may be written in any order. */
#define REFERS(table) "REFERENCES " #table " DEFERRABLE INITIALLY DEFERRED"

/* clang-format off */

/* Narrow tables for what decisions need (read back at every start), texts beside them. Columns that
 * change often stand in no index and refer to nothing: a reference among the columns that an update
 * sets, and above all one to its own table, makes SQLite keep a copy of the page and delete the row
 * before it is written (three times the cost). Events refer to nothing either: the log takes what
 * happened, as it happened. */
static const char v1[] =
    "CREATE TABLE meta ("
    "  key TEXT PRIMARY KEY,"
    "  value TEXT NOT NULL"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE event ("
    "  id INTEGER PRIMARY KEY,"
    "  at_ms INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL " BELOW(kind, V1_EVENTS) ","
    "  project INTEGER NOT NULL,"
    "  task INTEGER NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  epoch INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  data TEXT,"
    "  decision TEXT,"
    "  why TEXT"
    ") STRICT;"
    "CREATE INDEX event_by_task ON event (task);"
    "CREATE TRIGGER event_stays BEFORE UPDATE ON event"
    "  BEGIN SELECT raise(ABORT, 'an event is never changed'); END;"
    "CREATE TRIGGER event_remains BEFORE DELETE ON event"
    "  BEGIN SELECT raise(ABORT, 'an event is never deleted'); END;"

    "CREATE TABLE project ("
    "  id INTEGER PRIMARY KEY CHECK (id > 0 AND id <= 4294967295),"
    "  autopilot INTEGER NOT NULL " BELOW(autopilot, V1_AUTO_STATES) ","
    "  " FLAG(only_wanted) ","
    "  " FLAG(is_offline) ","
    "  failures INTEGER NOT NULL,"
    "  pause_by_ms INTEGER NOT NULL,"
    "  slots INTEGER NOT NULL,"
    "  max_turns INTEGER NOT NULL,"
    "  max_retries INTEGER NOT NULL,"
    "  max_conflict_tries INTEGER NOT NULL,"
    "  pause_after INTEGER NOT NULL,"
    "  stuck_turns INTEGER NOT NULL,"
    "  timeout_ms INTEGER NOT NULL,"
    "  pause_wait_ms INTEGER NOT NULL,"
    "  " FLAG(pause_on_stuck) ","
    "  " FLAG(has_workspace)
    ") STRICT;"
    "CREATE TABLE project_text ("
    "  id INTEGER PRIMARY KEY " REFERS(project) ","
    "  path TEXT NOT NULL UNIQUE,"
    "  hub TEXT NOT NULL,"
    "  target TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  settings_json TEXT NOT NULL,"
    "  added_ms INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE task ("
    "  id INTEGER PRIMARY KEY CHECK (id > 0 AND id <= 4294967295),"
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  parent INTEGER NOT NULL," /* 0 none */
    "  run INTEGER NOT NULL," /* 0 none */
    "  state INTEGER NOT NULL " BELOW(state, V1_TASK_STATES) ","
    "  priority INTEGER NOT NULL " BELOW(priority, 256) ","
    "  tags INTEGER NOT NULL " BELOW(tags, 256) ","
    "  " FLAG(is_wanted) ","
    "  " FLAG(is_fresh) ","
    "  " FLAG(is_undoing) ","
    "  retries INTEGER NOT NULL,"
    "  attempts INTEGER NOT NULL,"
    "  max_turns INTEGER NOT NULL,"
    "  turns_used INTEGER NOT NULL,"
    "  timeout_ms INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL,"
    "  ready_ms INTEGER NOT NULL,"
    "  not_before_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE task_text ("
    "  id INTEGER PRIMARY KEY " REFERS(task) ","
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  title TEXT NOT NULL,"
    "  key TEXT NOT NULL,"
    "  checks_json TEXT NOT NULL,"
    "  tags_json TEXT NOT NULL,"
    "  size TEXT NOT NULL,"
    "  agent TEXT NOT NULL,"
    "  workflow TEXT NOT NULL,"
    "  created_ms INTEGER NOT NULL,"
    "  deleted_ms INTEGER NOT NULL,"
    "  body TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX task_text_by_project ON task_text (project);"
    "CREATE INDEX task_text_by_key ON task_text (project, key) WHERE key <> '';"
    "CREATE UNIQUE INDEX task_text_one_key ON task_text (project, key)"
    "  WHERE key <> '' AND deleted_ms = 0;"
    "CREATE TABLE dependency ("
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  \"on\" INTEGER NOT NULL " REFERS(task) ","
    "  need INTEGER NOT NULL " BELOW(need, V1_NEEDS) ","
    "  PRIMARY KEY (task, \"on\")"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE run ("
    "  id INTEGER PRIMARY KEY CHECK (id > 0 AND id <= 4294967295),"
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  state INTEGER NOT NULL " BELOW(state, V1_RUN_STATES) ","
    "  epoch INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  phase INTEGER NOT NULL " BELOW(phase, 256) ","
    "  checkpoint INTEGER NOT NULL " BELOW(checkpoint, 256) ","
    "  signal INTEGER NOT NULL " BELOW(signal, V1_SIGNALS) ","
    "  stop INTEGER NOT NULL " BELOW(stop, V1_STOPS) ","
    "  " FLAG(has_workspace) ","
    "  " FLAG(is_empty) ","
    "  " FLAG(is_lost) ","
    "  exit_code INTEGER NOT NULL,"
    "  killed_by INTEGER NOT NULL,"
    "  tries INTEGER NOT NULL,"
    "  retry_ms INTEGER NOT NULL,"
    "  conflict_tries INTEGER NOT NULL,"
    "  merged_tries INTEGER NOT NULL,"
    "  epoch_turns INTEGER NOT NULL,"
    "  cut_turns INTEGER NOT NULL,"
    "  quiet_turns INTEGER NOT NULL,"
    "  commits INTEGER NOT NULL,"
    "  \"from\" INTEGER NOT NULL," /* 0 none */
    "  started_ms INTEGER NOT NULL,"
    "  spent_ms INTEGER NOT NULL,"
    "  slot_ms INTEGER NOT NULL,"
    "  verified_ms INTEGER NOT NULL,"
    "  base TEXT NOT NULL,"
    "  \"commit\" TEXT NOT NULL,"
    "  old_tip TEXT NOT NULL,"
    "  new_tip TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX run_by_task ON run (task);"
    "CREATE TABLE run_text ("
    "  run INTEGER PRIMARY KEY " REFERS(run) ","
    "  workspace_path TEXT NOT NULL,"
    "  workspace_kind TEXT NOT NULL,"
    "  branch TEXT NOT NULL,"
    "  agent TEXT NOT NULL,"
    "  tag TEXT NOT NULL,"
    "  token TEXT NOT NULL,"
    "  mark TEXT NOT NULL,"
    "  says TEXT NOT NULL,"
    "  says_kind INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE turn ("
    "  run INTEGER NOT NULL " REFERS(run) ","
    "  epoch INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  started_ms INTEGER NOT NULL,"
    "  prompt_hash TEXT NOT NULL,"
    "  agent TEXT NOT NULL,"
    "  pid INTEGER NOT NULL DEFAULT 0,"
    "  start_ticks INTEGER NOT NULL DEFAULT 0,"
    "  boot_id TEXT NOT NULL DEFAULT '',"
    "  ended_ms INTEGER NOT NULL DEFAULT 0,"
    "  exit_code INTEGER NOT NULL DEFAULT -1,"
    "  killed_by INTEGER NOT NULL DEFAULT 0,"
    "  signal INTEGER NOT NULL DEFAULT 0 " BELOW(signal, V1_SIGNALS) ","
    "  payload TEXT NOT NULL DEFAULT '',"
    "  \"commit\" TEXT NOT NULL DEFAULT '',"
    "  output_bytes INTEGER NOT NULL DEFAULT 0,"
    "  UNIQUE (run, epoch, turn)"
    ") STRICT;"

    "CREATE TABLE gate_result ("
    "  run INTEGER NOT NULL " REFERS(run) ","
    "  epoch INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  stage TEXT NOT NULL CHECK (stage IN ('gate', 'merge')),"
    "  position INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  command TEXT NOT NULL,"
    "  " FLAG(is_required) ","
    "  " FLAG(timed_out) ","
    "  exit_code INTEGER NOT NULL,"
    "  started_ms INTEGER NOT NULL,"
    "  took_ms INTEGER NOT NULL,"
    "  limit_s INTEGER NOT NULL,"
    "  output BLOB NOT NULL,"
    "  UNIQUE (run, epoch, turn, stage, position)"
    ") STRICT;"

    "CREATE TABLE landing ("
    "  id INTEGER PRIMARY KEY,"
    "  task INTEGER NOT NULL " REFERS(task) ","
    "  run INTEGER NOT NULL " REFERS(run) ","
    "  \"commit\" TEXT NOT NULL,"
    "  old_tip TEXT NOT NULL,"
    "  new_tip TEXT NOT NULL,"
    "  at_ms INTEGER NOT NULL,"
    "  undone_ms INTEGER NOT NULL DEFAULT 0,"
    "  undone_by TEXT NOT NULL DEFAULT '',"
    "  UNIQUE (run, new_tip)"
    ") STRICT;"
    "CREATE INDEX landing_by_task ON landing (task);"

    "CREATE TABLE notice ("
    "  id INTEGER PRIMARY KEY,"
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  task INTEGER NOT NULL," /* 0: of the project as a whole */
    "  run INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  at_ms INTEGER NOT NULL,"
    "  closed_ms INTEGER NOT NULL DEFAULT 0,"
    "  answer TEXT NOT NULL DEFAULT ''"
    ") STRICT;"
    "CREATE UNIQUE INDEX notice_open ON notice (project, task, kind) WHERE closed_ms = 0;"
    "CREATE INDEX notice_by_task ON notice (task);"

    "CREATE TABLE usage ("
    "  id INTEGER PRIMARY KEY,"
    "  run INTEGER NOT NULL " REFERS(run) ","
    "  turn INTEGER NOT NULL,"
    "  agent TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  input INTEGER NOT NULL,"
    "  output INTEGER NOT NULL,"
    "  cache INTEGER NOT NULL,"
    "  cost_micros INTEGER NOT NULL,"
    "  at_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX usage_by_run ON usage (run);"

    "CREATE TABLE discovery ("
    "  id INTEGER PRIMARY KEY,"
    "  project INTEGER NOT NULL " REFERS(project) ","
    "  task INTEGER NOT NULL,"
    "  " FLAG(is_global) ","
    "  text TEXT NOT NULL,"
    "  hash INTEGER NOT NULL," /* of the trimmed text in lower case */
    "  at_ms INTEGER NOT NULL,"
    "  UNIQUE (project, hash)"
    ") STRICT;";

const char *const store_migrations[] = {
    v1,
};
/* clang-format on */

const int store_migration_count = (int)COUNT(store_migrations);
