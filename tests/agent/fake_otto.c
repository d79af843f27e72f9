/* Stands in for the program in tests of this room: plays scenarios, and notes signals in the file
 * named by TEST_SIGNALS. */
#include "agent/script.h"
#include "base/str.h"

static int note(const char *text)
{
    const char *path = getenv("TEST_SIGNALS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return 2;
    fprintf(file, "%s\n", text);
    return fclose(file) == 0 ? 0 : 2;
}

/* `otto signal --result -` */
static int note_result(void)
{
    char text[4096];
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    text[length] = '\0';
    return note(text);
}

int main(int argc, char **argv)
{
    if (argc == 3 && text_equal(argv[1], "script-agent"))
        return script_main(argv[2]);
    if (argc == 3 && text_equal(argv[1], "signal"))
        return note(argv[2]);
    if (argc == 4 && text_equal(argv[1], "signal") && text_equal(argv[2], "--result") &&
        text_equal(argv[3], "-"))
        return note_result();
    return 1;
}
