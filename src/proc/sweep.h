/* The second net: ends processes that carry our mark in their environment.
 *
 * For the strays of a keeper that is lost. Never matches by name or command line: a process that
 * looks the same and has no mark survives (T15). The mark reaches everything an agent starts
 * unless it clears its environment. */
#pragma once
#include "base/err.h"

/* Kills (SIGKILL) every process of this user whose environment, as it was at its exec, holds
 * exactly the entry `marker` ("OTTO_MARK=7-1-c0ffee"), except ourselves; again until none is left
 * and each is gone. *killed (may be NULL) counts them. ERR_PROCESS: some would not die in time. */
bool sweep_marked(const char *marker, int *killed, Err *err) NODISCARD;
