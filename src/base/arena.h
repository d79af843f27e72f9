/* Arena: memory with one short life, emptied at once.
 *
 * Allocation failure aborts; the store makes that safe. Pointers stay valid until arena_done or
 * arena_reset. */
#pragma once
#include "base/macros.h"
#include <stdarg.h>
#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;
typedef struct Arena {
    ArenaBlock *blocks;
} Arena;

#define ARENA_INIT                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }

void *arena_alloc(Arena *arena, size_t size);       /* zeroed, aligned for any type */
char *arena_strdup(Arena *arena, const char *text); /* NULL stays NULL */
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) PRINTF(2, 3);
void arena_reset(Arena *arena); /* empties, keeps one block for the next round */
void arena_done(Arena *arena);  /* empties and frees; fits CLEANUP */

/* Plain heap, aborting when there is none. */
void *mem_alloc(size_t size); /* zeroed */
void *mem_grow(void *old, size_t count, size_t item_size);
char *mem_strdup(const char *text);       /* NULL stays NULL */
void mem_freep(void *pointer_to_pointer); /* for CLEANUP on char * and the like */
