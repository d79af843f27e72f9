/* Reading the journal a keeper wrote (keeper/wire.h): live, after the end, or after a crash.
 *
 * Touches that one file, read-only. What is in it came from an agent: lengths are checked, a torn
 * last frame is the end. An exit frame is only believed where the frames lead to it, since an
 * agent can print bytes that look like one. */
#pragma once
#include "base/err.h"
#include "keeper/wire.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a run ended, for on_exit and for readers of old journals. */
typedef struct KeepExit {
    int exit_code;        /* -1: it did not exit by itself */
    int signal;           /* that ended it, or 0 */
    bool lost;            /* the keeper died without an exit frame; strays may be alive */
    bool could_not_start; /* error and text say why */
    bool already_started; /* could_not_start, because this name has a journal: attach instead */
    bool was_stopped;     /* a stop or kill order came first */
    bool cut;             /* the journal's limit was reached */
    bool write_failed;    /* output is missing in the journal (full disk) */
    bool left_behind;     /* a process of the tree would not die */
    bool swept;           /* processes had outlived the agent and were ended */
    int error;            /* errno of could_not_start */
    char text[96];        /* one sentence for could_not_start, lost, left_behind; else "" */
    int64_t output_bytes, user_ms, sys_ms, max_rss_kb;
} KeepExit;

typedef struct JournalFrame {
    WireFrame type;
    int stream; /* 1 out, 2 err, of WIRE_FRAME_DATA */
    int64_t wall_ms;
    const char *bytes; /* borrowed until the next call */
    size_t length;
    int64_t offset_after; /* where the next frame begins: a place to go on from later */
} JournalFrame;

typedef enum JournalNext {
    JOURNAL_FRAME,
    JOURNAL_END,     /* no further whole frame; ask again when the file may have grown */
    JOURNAL_CORRUPT, /* not what a keeper writes; nothing after this can be read */
    JOURNAL_FAILED,  /* the file cannot be read now (errno) */
} JournalNext;

enum { JOURNAL_BUFFER_BYTES = 2 * WIRE_CHUNK_BYTES };

/* With a buffer lent by the caller, so that a thousand open journals need one. */
typedef struct JournalReader {
    int fd;
    int64_t offset;   /* of the next frame */
    int64_t limit;    /* do not look beyond; -1: to the end of the file */
    char *buffer;     /* JOURNAL_BUFFER_BYTES */
    size_t have, at;  /* private */
    bool owns_buffer; /* private: by journal_open */
} JournalReader;

/* Opens with a buffer of its own. ERR_NOT_FOUND: there is no such journal. */
bool journal_open(JournalReader *reader, const char *path, int64_t offset, Err *err) NODISCARD;
void journal_close(JournalReader *reader);
JournalNext journal_next(JournalReader *reader, JournalFrame *frame);

/* The exit frame at the end. True and lost set: there is none (the keeper lives or was lost). */
bool journal_tail_exit(const char *path, KeepExit *exit, Err *err) NODISCARD;
/* The same from an open descriptor and a frame boundary. */
void journal_find_exit(int fd, int64_t offset, KeepExit *exit);
/* From the wire; sentences filled in. */
void keep_exit_from(const WireExit *wire, KeepExit *exit);
