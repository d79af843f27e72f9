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

int main(int argc, char **argv)
{
    if (argc == 3 && text_equal(argv[1], "script-agent"))
        return script_main(argv[2]);
    if (argc == 3 && text_equal(argv[1], "signal"))
        return note(argv[2]);
    return 1;
}
