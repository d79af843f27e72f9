/* Files that are part of the program: see embedded.h. */
#include "agent/embedded.h"
#include "base/str.h"

const EmbeddedFile *embedded_find(const char *name)
{
    size_t count;
    const EmbeddedFile *files = embedded_all(&count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(files[i].name, name))
            return &files[i];
    return NULL;
}
