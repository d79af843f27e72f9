/* A folder with a workspace in it, and real turns of real agents there. For tests of this room. */
#pragma once
#include "agent/agent.h"
#include <sys/types.h>

typedef struct Lab {
    char *root;      /* fresh folder, removed at the end */
    char *workspace; /* below it; also the current folder of turns */
    char *program;   /* root/bin/otto, a link to the player of the tests */
    char *signals;   /* file for `otto signal` */
    AgentSettings agent;
    AgentTurn turn; /* tests change what they need */
    Str out, err;   /* of the last turn */
    int status;     /* as from waitpid */
} Lab;

void lab_init(Lab *lab); /* script agent, scenario root/scenario.yaml */
void lab_done(Lab *lab);
void lab_scenario(Lab *lab, const char *text);
pid_t lab_start(Lab *lab);                  /* one turn under way */
void lab_wait(Lab *lab, pid_t pid);         /* until it has ended; fills out, err, status */
void lab_turn(Lab *lab);                    /* both */
int lab_exit_code(const Lab *lab);          /* of the last turn; 128 + signal */
char *lab_path(Lab *lab, const char *name); /* below root; the caller frees */
char *lab_read(Lab *lab, const char *name); /* below root; the caller frees; NULL: missing */
void lab_write(Lab *lab, const char *name, const char *text);
/* Shell command in a folder below root; its exit code. */
int lab_shell(Lab *lab, const char *folder, const char *command);
