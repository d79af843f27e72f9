/* Writes docs/decide.md from the table of decisions: gen-decide FILE. */
#include "base/file.h"
#include "core/decide.h"

int main(int argc, char **argv)
{
    Err err = {0};
    char *text = decide_document();
    bool is_fine = argc == 2 && file_write_atomic(argv[1], text, strlen(text), 0644, &err);
    if (!is_fine)
        (void)fprintf(stderr, "%s\n", argc == 2 ? err.text : "usage: gen-decide FILE");
    free(text);
    return is_fine ? 0 : 1;
}
