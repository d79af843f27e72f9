/* What keep.c and keep_open.c share. */
#pragma once
#include "proc/keep.h"

struct Keep {
    Loop *loop;
    KeepCalls calls;
    void *user;
    char *folder, *name;
    pid_t child;                /* the keeper while it is our child and not reaped; else 0 */
    pid_t started_pid;          /* the keeper, when we started it; stays */
    int socket, journal, pidfd; /* -1: not open */
    int64_t offset;             /* read up to here */
    int64_t size;               /* whole frames end here; -1: at the end of the file */
    WireStart start;            /* keeper_pid 0: not known yet */
    KeepExit exit;
    WireMessage wish; /* an order from before we were connected; type 0: none */
    bool exit_is_known, exit_is_told, started_is_told;
    bool ack_is_due;
    bool is_let_go;   /* keep_free was called */
    int calls_inside; /* callbacks of ours on the stack; freeing waits for them */
    LoopTimer again;  /* to go on reading, or to look for the keeper again */
    bool is_looking;  /* `again` means the latter */
    LoopGuest guest;  /* once let go, until the keeper is reaped */
};

/* keep.c */
void keep_enter(Keep *keep); /* around each callback of the loop: keep_free inside one waits */
void keep_leave(Keep *keep); /* the struct may be gone after it */
Keep *keep_new(Loop *loop, const char *folder, const char *name, const KeepCalls *calls,
               void *user);
void keep_destroy(Keep *keep);
bool keep_listen(Keep *keep, int socket, Err *err); /* takes the socket */
void keep_conclude(Keep *keep);                     /* the keeper is dead: the journal decides */
void keep_look_again(Keep *keep, int64_t after_ms);
bool keep_open_journal(Keep *keep);
void keep_read_start(Keep *keep); /* from the open journal, when not known yet */

/* keep_open.c */
void keep_look(Keep *keep);        /* for the keeper of a journal: connect, wait or conclude */
void keep_await_death(Keep *keep); /* the socket is gone without an exit */
void keep_on_death(void *user, uint32_t events); /* of the pidfd */
