/* Places: the folders that otto may write and remove, and nothing outside them (T7, F22).
 *
 * A root is an ordinary folder (its last part is not a link) that holds otto's mark. Below it every
 * step is taken without following links. Removal is a rename first, so that a name disappears at
 * once and whole; the bytes go afterwards. */
#pragma once
#include "base/err.h"
#include <stddef.h>

#define PLACE_NAME_SIZE 256

/* Makes the folder when needed and puts otto's mark into it. */
bool place_mark(const char *folder, Err *err) NODISCARD;
/* Path lies below root, textually and really, no part of it a link; the folder that holds it is
 * marked. Returns a descriptor of that folder and the last part, or -1. The last part itself may
 * be missing; a link or a plain file there is refused. */
int place_open(const char *root, const char *path, char name[PLACE_NAME_SIZE], Err *err) NODISCARD;
/* Renames path (checked as above) to to_folder/as, which must not exist. A missing path is fine:
 * *was_there tells. */
bool place_move(const char *root, const char *path, const char *to_folder, const char *as,
                bool *was_there, Err *err) NODISCARD;
/* Renames path to trash-now beside the root and deletes it there. Missing is fine. */
bool place_remove(const char *root, const char *path, Err *err) NODISCARD;
/* Opens the folder of rel below a folder, making what is missing, following no link; the last part
 * of rel goes to name. -1 on failure. */
int place_open_below(int folder, const char *rel, bool make, char name[PLACE_NAME_SIZE],
                     Err *err) NODISCARD;
