/* Writes docs/prompts.md from the tables of prompts and blanks: gen-prompts FILE. */
#include "agent/prompt.h"
#include "base/file.h"

int main(int argc, char **argv)
{
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    prompt_markdown(&text);
    bool is_fine =
        argc == 2 && file_write_atomic(argv[1], str_text(&text), text.length, 0644, &err);
    if (!is_fine)
        (void)fprintf(stderr, "%s\n", argc == 2 ? err.text : "usage: gen-prompts FILE");
    return is_fine ? 0 : 1;
}
