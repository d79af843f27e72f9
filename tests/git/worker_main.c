/* The worker process for tests: `git-worker JOB`, as `otto do JOB`. */
#include "engine/work.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: git-worker JOB\n");
        return 1;
    }
    return work_main(argv[1]);
}
