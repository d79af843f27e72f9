/* Arena: see arena.h. */
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1024, BLOCK_BYTES = 16 * 1024, ALIGN_BYTES = 16 };

struct ArenaBlock {
    ArenaBlock *next;
    size_t size, used;
    _Alignas(ALIGN_BYTES) char bytes[];
};

static void out_of_memory(void)
{
    (void)fputs("otto: out of memory\n", stderr); /* nothing else can be done */
    abort();
}

void *mem_alloc(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        out_of_memory();
    return memory;
}

void *mem_grow(void *old, size_t count, size_t item_size)
{
    void *memory = reallocarray(old, count ? count : 1, item_size);
    if (!memory)
        out_of_memory();
    return memory;
}

char *mem_strdup(const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

void mem_freep(void *pointer_to_pointer)
{
    void **pointer = pointer_to_pointer;
    free(*pointer);
    *pointer = NULL;
}

void *arena_alloc(Arena *arena, size_t size)
{
    size = (size + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    ArenaBlock *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        size_t bytes = MAX(size, (size_t)(block ? BLOCK_BYTES : FIRST_BYTES));
        block = mem_grow(NULL, sizeof *block + bytes, 1);
        block->size = bytes;
        block->used = 0;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memset(memory, 0, size); /* here, not for whole blocks: most are used in part */
}

char *arena_strndup(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        out_of_memory();
    char *copy = arena_strndup(arena, text, (size_t)length);
    free(text);
    return copy;
}

void arena_reset(Arena *arena)
{
    ArenaBlock *keep = arena->blocks;
    if (!keep)
        return;
    Arena rest = {keep->next};
    arena_done(&rest);
    if (keep->size > BLOCK_BYTES) {
        free(keep);
        arena->blocks = NULL;
        return;
    }
    keep->used = 0;
    keep->next = NULL;
}

void arena_done(Arena *arena)
{
    for (ArenaBlock *block = arena->blocks; block;) {
        ArenaBlock *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
}
