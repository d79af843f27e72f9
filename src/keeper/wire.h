/* What the keeper and the engine agree on: the journal file and the notices on the socket.
 *
 * Included by both programs and by nothing else than the C library's types. Both run on one
 * machine from one build, so numbers are in the machine's own byte order; WIRE_VERSION is in the
 * START frame and changes with the layout.
 *
 * Journal NAME.journal, append-only: frames, each a WireHead and `length` bytes after it.
 *   START  WireStart   first frame, absent when the agent could not be started
 *   DATA   bytes       what the agent wrote to stream 1 (out) or 2 (err), nothing changed
 *   CUT    nothing     the size limit was reached; later output is read and dropped
 *   EXIT   WireExit    last frame; a journal without it has a living or a lost keeper
 * The keeper holds an exclusive flock on the journal as long as it lives.
 *
 * Socket (SEQPACKET, one WireMessage per packet). The agent's bytes never cross it: a notice says
 * how long the journal is, and the engine reads the file. */
#pragma once
#include <stdint.h>

enum {
    WIRE_VERSION = 1,
    WIRE_CHUNK_BYTES = 64 * 1024, /* most bytes of one DATA frame */
    WIRE_NAME_BYTES = 64,         /* longest NAME */
    WIRE_EXIT_TAKEN = 75,         /* keeper's exit code: the journal exists, somebody runs this */
};

typedef enum WireFrame {
    WIRE_FRAME_START = 1,
    WIRE_FRAME_DATA = 2,
    WIRE_FRAME_CUT = 3,
    WIRE_FRAME_EXIT = 4,
} WireFrame;

typedef struct WireHead {
    uint8_t type;   /* WireFrame */
    uint8_t stream; /* 1 or 2 in DATA, else 0 */
    uint16_t zero;
    uint32_t length;
    uint64_t wall_ms;
} WireHead;

typedef struct WireStart {
    uint32_t version;
    int32_t agent_pid;
    int32_t keeper_pid;
    uint32_t zero;
    uint64_t keeper_start_ticks; /* field 22 of /proc/PID/stat; 0 when it could not be read */
} WireStart;

/* Where a start failed; the client has a sentence for each (keep.c). */
typedef enum WireStage {
    WIRE_STAGE_NONE = 0,
    WIRE_STAGE_FOLDER,  /* entering the run's folder */
    WIRE_STAGE_JOURNAL, /* creating the journal; EEXIST: already started */
    WIRE_STAGE_SOCKET,  /* listening */
    WIRE_STAGE_STDIN,   /* opening the input file */
    WIRE_STAGE_PIPE,    /* pipes or another descriptor */
    WIRE_STAGE_CWD,     /* entering the agent's folder */
    WIRE_STAGE_EXEC,    /* starting the program */
} WireStage;

/* WireExit.flags */
enum {
    WIRE_EXIT_STOPPED = 1u << 0,      /* a stop or kill order came before the end */
    WIRE_EXIT_CUT = 1u << 1,          /* the journal's limit was reached */
    WIRE_EXIT_WRITE_FAILED = 1u << 2, /* some output could not be stored (full disk) */
    WIRE_EXIT_LEFT_BEHIND = 1u << 3,  /* a process of the tree did not die of SIGKILL in time */
    WIRE_EXIT_SWEPT = 1u << 4,        /* processes outlived the agent and were ended */
};

typedef struct WireExit {
    int32_t exit_code; /* -1: ended by a signal or never started */
    int32_t signal;    /* 0: none */
    int32_t error;     /* errno of a failed start, else 0 */
    uint32_t stage;    /* WireStage of a failed start */
    uint32_t flags;
    uint32_t max_rss_kb;
    uint64_t output_bytes;    /* written by the agent, stored or not */
    uint64_t user_us, sys_us; /* of the whole tree, as far as it was reaped */
} WireExit;

typedef enum WireType {
    /* keeper to engine */
    WIRE_STARTED = 1, /* body.start; sent again to each engine that connects */
    WIRE_DATA = 2,    /* the journal grew; the next one only after WIRE_ACK */
    WIRE_EXITED = 3,  /* body.exit; the last message */
    /* engine to keeper; a message the keeper does not know gets no answer */
    WIRE_ACK = 16,
    WIRE_STOP = 17, /* argument: grace in ms; ask, wait, kill */
    WIRE_KILL = 18, /* kill at once */
    /* reserved: a terminal, namespaces */
    WIRE_INPUT = 32,
    WIRE_RESIZE = 33,
} WireType;

typedef struct WireMessage {
    uint32_t type; /* WireType */
    uint32_t argument;
    uint64_t journal_bytes; /* keeper to engine: complete frames end here */
    union {
        WireStart start;
        WireExit exit;
    } body; /* STARTED and EXITED only: the others are WIRE_SHORT_BYTES long */
} WireMessage;

enum { WIRE_SHORT_BYTES = 16 };

_Static_assert(sizeof(WireHead) == 16, "journal layout");
_Static_assert(sizeof(WireStart) == 24, "journal layout");
_Static_assert(sizeof(WireExit) == 48, "journal layout");
_Static_assert(sizeof(WireMessage) == WIRE_SHORT_BYTES + sizeof(WireExit), "message layout");
