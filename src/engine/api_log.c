/* Snapshots for the doors: what agents printed. */
#include "engine/api_internal.h"
#include "proc/journal.h"

/* The log: frames of the journals, in pieces of bounded size */

typedef struct LogWalk {
    Call *call;
    json_t *chunks;
    int64_t room; /* bytes still allowed in this answer */
    RunId run;    /* filters; 0 all */
    uint32_t turn;
    int64_t skip_run, skip_epoch, skip_turn, skip_offset; /* go on from here */
    json_t *next;
} LogWalk;

static void read_journal(LogWalk *walk, const StoreTurn *turn, int64_t offset)
{
    char path[PATH_MAX];
    JournalReader reader;
    JournalFrame frame;
    (void)snprintf(path, sizeof path, "%s/%u-e%ut%u.journal", walk->call->engine->path_runs,
                   turn->run, turn->epoch, turn->turn); /* state paths are short */
    int64_t reached = offset;
    if (journal_open(&reader, path, offset, NULL)) {
        while (walk->room > 0 && journal_next(&reader, &frame) == JOURNAL_FRAME) {
            reached = frame.offset_after;
            if (frame.type != WIRE_FRAME_DATA)
                continue;
            walk->room -= (int64_t)frame.length;
            json_array_append_new(walk->chunks,
                                  json_pack("{s:I,s:I,s:I,s:i,s:I,s:o}", "run",
                                            (json_int_t)turn->run, "epoch", (json_int_t)turn->epoch,
                                            "turn", (json_int_t)turn->turn, "stream", frame.stream,
                                            "at_ms", (json_int_t)frame.wall_ms, "text",
                                            safe_string(frame.bytes, frame.length)));
        }
        journal_close(&reader);
    }
    json_decref(walk->next);
    walk->next = json_pack("{s:I,s:I,s:I,s:I}", "run", (json_int_t)turn->run, "epoch",
                           (json_int_t)turn->epoch, "turn", (json_int_t)turn->turn, "offset",
                           (json_int_t)reached);
}

static bool log_turn(void *user, const StoreTurn *turn)
{
    LogWalk *walk = user;
    if (walk->turn && turn->turn != walk->turn)
        return true;
    bool is_same = turn->run == walk->skip_run && turn->epoch == walk->skip_epoch &&
                   turn->turn == walk->skip_turn;
    bool is_before = turn->run < walk->skip_run ||
                     (turn->run == walk->skip_run &&
                      (turn->epoch < walk->skip_epoch ||
                       (turn->epoch == walk->skip_epoch && turn->turn < walk->skip_turn)));
    if (!is_before)
        read_journal(walk, turn, is_same ? walk->skip_offset : 0);
    return walk->room > 0;
}

static bool log_run(void *user, const Run *run, const StoreRunText *text)
{
    LogWalk *walk = user;
    (void)text;
    if ((walk->run && run->id != walk->run) || run->id < walk->skip_run)
        return true;
    return store_turn_list(walk->call->engine->store, run->id, log_turn, walk, &walk->call->err) &&
           walk->room > 0;
}

bool api_task_log(Call *call)
{
    const Task *task = call_task(call);
    LogWalk walk = {.call = call,
                    .chunks = json_array(),
                    .next = json_null(),
                    .room = query_int(call, "limit", 1 << 20),
                    .run = (RunId)query_int(call, "run", 0),
                    .turn = (uint32_t)query_int(call, "turn", 0),
                    .skip_run = query_int(call, "from_run", 0),
                    .skip_epoch = query_int(call, "from_epoch", 0),
                    .skip_turn = query_int(call, "from_turn", 0),
                    .skip_offset = query_int(call, "after", 0)};
    bool is_read = task && engine_commit(call->engine, &call->err) &&
                   store_run_list(call->engine->store, task->id, log_run, &walk, &call->err) &&
                   !call->err.kind;
    if (!is_read) {
        json_decref(walk.chunks);
        json_decref(walk.next);
        return false;
    }
    reply_json(call,
               json_pack("{s:o,s:o,s:b,s:b}", "chunks", walk.chunks, "next", walk.next, "running",
                         turn_of(call->engine, task->run) != NULL, "more", walk.room <= 0));
    return true;
}
