/* Reading the journal a keeper wrote: see journal.h. */
#include "proc/journal.h"
#include "base/arena.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct FrameRow {
    WireFrame type;
    size_t least, most; /* bytes after the head; a newer keeper may append to START and EXIT */
} FrameRow;

/* clang-format off */
static const FrameRow frame_rows[] = {
    { WIRE_FRAME_START, sizeof(WireStart), 4096 },
    { WIRE_FRAME_DATA,  1,                 WIRE_CHUNK_BYTES },
    { WIRE_FRAME_CUT,   0,                 4096 },
    { WIRE_FRAME_EXIT,  sizeof(WireExit),  4096 },
};

typedef struct StageRow {
    WireStage stage;
    const char *sentence; /* before ": " and the system's text */
} StageRow;

static const StageRow stage_rows[] = {
    { WIRE_STAGE_FOLDER,  "cannot enter the run's folder" },
    { WIRE_STAGE_JOURNAL, "cannot create the journal" },
    { WIRE_STAGE_SOCKET,  "cannot listen in the run's folder" },
    { WIRE_STAGE_STDIN,   "cannot open the input file" },
    { WIRE_STAGE_PIPE,    "cannot make pipes" },
    { WIRE_STAGE_CWD,     "cannot enter the agent's folder" },
    { WIRE_STAGE_EXEC,    "cannot start the program" },
};
/* clang-format on */

static const char *stage_sentence(uint32_t stage)
{
    for (size_t i = 0; i < COUNT(stage_rows); i++)
        if (stage_rows[i].stage == stage)
            return stage_rows[i].sentence;
    return "cannot start";
}

static bool head_is_valid(const WireHead *head)
{
    for (size_t i = 0; i < COUNT(frame_rows); i++)
        if (frame_rows[i].type == head->type)
            return head->zero == 0 && head->length >= frame_rows[i].least &&
                   head->length <= frame_rows[i].most;
    return false;
}

/* Fills the buffer from the next frame on. False: nothing new is there (errno 0), or an error. */
static bool fill(JournalReader *reader)
{
    size_t left = reader->have - reader->at, want = JOURNAL_BUFFER_BYTES - left;
    int64_t from = reader->offset + (int64_t)left;
    if (reader->limit >= 0)
        want = MIN(want, (size_t)MAX(reader->limit - from, 0));
    memmove(reader->buffer, reader->buffer + reader->at, left);
    reader->at = 0;
    reader->have = left;
    ssize_t got;
    errno = 0;
    do {
        got = want ? pread(reader->fd, reader->buffer + left, want, (off_t)from) : 0;
    } while (got < 0 && errno == EINTR);
    reader->have += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Until `need` bytes of the next frame are there. */
static bool ensure(JournalReader *reader, size_t need)
{
    while (reader->have - reader->at < need)
        if (!fill(reader))
            return false;
    return true;
}

JournalNext journal_next(JournalReader *reader, JournalFrame *frame)
{
    WireHead head;
    if (!ensure(reader, sizeof head))
        return errno ? JOURNAL_FAILED : JOURNAL_END;
    memcpy(&head, reader->buffer + reader->at, sizeof head);
    if (!head_is_valid(&head))
        return JOURNAL_CORRUPT;
    if (!ensure(reader, sizeof head + head.length))
        return errno ? JOURNAL_FAILED : JOURNAL_END;
    const char *bytes = reader->buffer + reader->at + sizeof head;
    reader->at += sizeof head + head.length;
    reader->offset += (int64_t)(sizeof head + head.length);
    *frame = (JournalFrame){.type = (WireFrame)head.type,
                            .stream = head.stream,
                            .wall_ms = (int64_t)head.wall_ms,
                            .bytes = bytes,
                            .length = head.length,
                            .offset_after = reader->offset};
    return JOURNAL_FRAME;
}

bool journal_open(JournalReader *reader, const char *path, int64_t offset, Err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "no journal '%s'", path);
    if (fd < 0)
        return err_errno(err, "journal '%s'", path);
    *reader = (JournalReader){.fd = fd,
                              .offset = offset,
                              .limit = -1,
                              .buffer = mem_alloc(JOURNAL_BUFFER_BYTES),
                              .owns_buffer = true};
    return true;
}

void journal_close(JournalReader *reader)
{
    if (reader->fd >= 0)
        (void)close(reader->fd); /* only read from */
    if (reader->owns_buffer)
        free(reader->buffer);
    *reader = (JournalReader){.fd = -1};
}

/* -- the end ----------------------------------------------------------------------------- */

void keep_exit_from(const WireExit *wire, KeepExit *exit)
{
    *exit = (KeepExit){
        .exit_code = wire->exit_code,
        .signal = wire->signal,
        .could_not_start = wire->error != 0,
        .already_started = wire->stage == WIRE_STAGE_JOURNAL && wire->error == EEXIST,
        .was_stopped = wire->flags & WIRE_EXIT_STOPPED,
        .cut = wire->flags & WIRE_EXIT_CUT,
        .write_failed = wire->flags & WIRE_EXIT_WRITE_FAILED,
        .left_behind = wire->flags & WIRE_EXIT_LEFT_BEHIND,
        .swept = wire->flags & WIRE_EXIT_SWEPT,
        .error = wire->error,
        .output_bytes = (int64_t)wire->output_bytes,
        .user_ms = (int64_t)(wire->user_us / 1000),
        .sys_ms = (int64_t)(wire->sys_us / 1000),
        .max_rss_kb = wire->max_rss_kb,
    };
    const char *sentence = stage_sentence(wire->stage);
    if (exit->already_started)
        (void)snprintf(exit->text, sizeof exit->text, "this run has already been started");
    else if (exit->could_not_start) /* sentences and strerror texts fit */
        (void)snprintf(exit->text, sizeof exit->text, "%s: %s", sentence, strerror(wire->error));
    else if (exit->left_behind)
        (void)snprintf(exit->text, sizeof exit->text, "a process did not die of SIGKILL");
}

/* Heads only: the bytes between them are not read. */
void journal_find_exit(int fd, int64_t offset, KeepExit *exit)
{
    WireHead head;
    WireExit wire;
    while (pread(fd, &head, sizeof head, (off_t)offset) == (ssize_t)sizeof head &&
           head_is_valid(&head)) {
        offset += (int64_t)sizeof head;
        if (head.type == WIRE_FRAME_EXIT &&
            pread(fd, &wire, sizeof wire, (off_t)offset) == (ssize_t)sizeof wire) {
            keep_exit_from(&wire, exit);
            return;
        }
        offset += head.length;
    }
    *exit = (KeepExit){.exit_code = -1, .lost = true, .text = "the keeper left no exit record"};
}

bool journal_tail_exit(const char *path, KeepExit *exit, Err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "no journal '%s'", path);
    if (fd < 0)
        return err_errno(err, "journal '%s'", path);
    journal_find_exit(fd, 0, exit);
    (void)close(fd); /* only read from */
    return true;
}
