/* The journal file: see keeper.h and wire.h.
 *
 * Frames are written at a known offset, so a torn write (full disk) is overwritten by the next
 * frame and never shifts the frames after it. */
#include "keeper/keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static uint64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool put(Tape *tape, WireFrame type, int stream, const void *bytes, size_t length)
{
    WireHead head = {.type = (uint8_t)type,
                     .stream = (uint8_t)stream,
                     .length = (uint32_t)length,
                     .wall_ms = wall_ms()};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, length}};
    ssize_t whole = (ssize_t)(sizeof head + length), written;
    do {
        written = pwritev(tape->fd, parts, 2, (off_t)tape->size);
    } while (written < 0 && errno == EINTR);
    if (written == whole) {
        tape->size += (uint64_t)whole;
        return true;
    }
    tape->has_failed = true;
    if (written > 0 && ftruncate(tape->fd, (off_t)tape->size) != 0)
        return false; /* readers stop at a torn last frame, and the next frame overwrites it */
    return false;
}

bool tape_create(Tape *tape, const char *path)
{
    /* O_EXCL is what makes starting the same run twice harmless. */
    tape->fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (tape->fd < 0)
        return false;
    (void)flock(tape->fd, LOCK_EX); /* without it the client falls back to pid and start time */
    return true;
}

void tape_start(Tape *tape, const WireStart *start)
{
    put(tape, WIRE_FRAME_START, 0, start, sizeof *start);
}

void tape_data(Tape *tape, int stream, const void *bytes, size_t length)
{
    if (tape->is_cut)
        return;
    uint64_t need = tape->size + sizeof(WireHead) + length;
    if (tape->limit && need > tape->limit) {
        length = need - tape->limit < length ? length - (size_t)(need - tape->limit) : 0;
        tape->is_cut = true;
    }
    if (length)
        put(tape, WIRE_FRAME_DATA, stream, bytes, length);
    if (tape->is_cut)
        put(tape, WIRE_FRAME_CUT, 0, NULL, 0);
}

void tape_exit(Tape *tape, const WireExit *end)
{
    put(tape, WIRE_FRAME_EXIT, 0, end, sizeof *end);
}
