/* Guesses about a repository from its files, and about the machine from PATH; for `otto init`. */
#pragma once
#include "base/str.h"

typedef struct TestGuess {
    const char *language; /* NULL: none recognised */
    const char *file;     /* that gave it away */
    const char *command;  /* NULL: no test command found */
} TestGuess;

/* Looks at files in root; the first row that gives a test command wins. */
TestGuess guess_test(const char *root);

typedef struct KnownAgent {
    const char *name;
    const char *argv;   /* YAML list of its command */
    const char *prompt; /* stdin or arg */
    const char *note;   /* what a person should know before trusting it */
} KnownAgent;

/* The index-th agent that is on PATH, or NULL after the last. */
const KnownAgent *guess_agent(size_t index);
const KnownAgent *known_agent(size_t index); /* on PATH or not; NULL after the last */
