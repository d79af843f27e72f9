/* The signal scanner: see signal.h.
 *
 * One step looks at the bytes from one '<' or '[' on and says: plain text, more bytes needed, or a
 * report of so many bytes. The bytes are either the caller's own piece or, when a candidate was cut
 * by the end of a piece, the held copy. */
#include "base/arena.h"
#include "core/signal.h"
#include <stdlib.h>
#include <string.h>

/* A held candidate is joined with the next bytes in chunks, so that a long piece is not copied
 * whole. The room is twice what is held: candidates then leave at its begin many times before the
 * rest is moved once, however small the pieces. */
enum {
    HELD_CHUNK = 4096,
    HELD_SIZE = 2 * (SIGNAL_WINDOW + HELD_CHUNK),
    HELD_MOST = 2 * (SIGNAL_RESULT_WINDOW + SIGNAL_TAG_MAX + HELD_CHUNK),
    BLOCK = 256,
    NEAR = 8,
};

typedef enum Form { FORM_NOT, FORM_PARTIAL, FORM_EXACT, FORM_WRONG } Form;

/* Bytes under scan; offsets are into text. What is known is kept, so that no byte is looked at
 * again and again however hostile the text. */
typedef struct Scan {
    SignalScanner *scanner;
    const char *text;
    size_t length;
    size_t no_tag;   /* the present candidate has no tag of any form before this offset */
    size_t no_close; /* no exact closing tag begins before this offset */
    bool is_last;    /* nothing follows */
} Scan;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Is the tag at p, where a '<' or '[' stands? EXACT is the `<tag>` as configured; other case or
 * brackets are WRONG. */
static Form tag_at(const Scan *scan, size_t p, bool closing)
{
    const SignalScanner *scanner = scan->scanner;
    const char *text = scan->text + p;
    size_t head = closing ? 2 : 1, size = head + scanner->tag_length + 1, left = scan->length - p;
    bool is_exact = text[0] == '<';
    if (closing && left > 1 && text[1] != '/')
        return FORM_NOT;
    for (size_t i = head; i < size && i < left; i++) {
        bool is_end = i == size - 1;
        char want = !is_end ? scanner->tag[i - head] : text[0] == '<' ? '>' : ']';
        if (text[i] == want)
            continue;
        if (is_end || lower(want) != lower(text[i]))
            return FORM_NOT;
        is_exact = false;
    }
    return left < size ? FORM_PARTIAL : is_exact ? FORM_EXACT : FORM_WRONG;
}

/* First '<' or '[' in from..to, else to. Block by block, so that many of one kind do not make the
 * search for the other one start over through the whole rest. */
static size_t next_bracket(const Scan *scan, size_t from, size_t to)
{
    for (size_t near = MIN(from + NEAR, to); from < near; from++) { /* dense text: no calls */
        if (scan->text[from] == '<' || scan->text[from] == '[')
            return from;
    }
    while (from < to) {
        size_t size = MIN(to - from, BLOCK);
        const char *block = scan->text + from;
        const char *angle = memchr(block, '<', size);
        const char *square = memchr(block, '[', angle ? (size_t)(angle - block) : size);
        if (square || angle)
            return from + (size_t)((square ? square : angle) - block);
        from += size;
    }
    return to;
}

static void report(const Scan *scan, size_t p, size_t length, Signal *signal)
{
    signal->raw = scan->text + p;
    signal->raw_length = length;
    scan->scanner->found(scan->scanner->context, signal);
}

static void report_malformed(const Scan *scan, size_t p, size_t length, SignalType type)
{
    Signal signal = {.code = SIGNAL_MALFORMED, .type = type};
    report(scan, p, length, &signal);
}

enum { NEED_MORE = 0 }; /* a step never moves by nothing */

static size_t window_end(const Scan *scan, size_t p, size_t window)
{
    return scan->length - p > window ? p + window : scan->length;
}

/* Until a whole tag can be seen at the last byte of the window, later bytes may change the answer.
 */
static bool can_grow(const Scan *scan, size_t p, size_t window)
{
    return !scan->is_last && scan->length - p < window + scan->scanner->tag_length + 3;
}

/* A candidate that is certainly none. Its report runs through its closing tag, or up to the next
 * opening, whichever comes first, so that it can never swallow a good signal after it. */
static size_t step_malformed(Scan *scan, size_t p, size_t open, SignalType type)
{
    size_t end = window_end(scan, p, SIGNAL_WINDOW);
    size_t i = next_bracket(scan, MAX(p + open, scan->no_tag), end);
    for (; i < end; i = next_bracket(scan, i + 1, end)) {
        Form close = tag_at(scan, i, true), again = tag_at(scan, i, false);
        if ((close == FORM_PARTIAL || again == FORM_PARTIAL) && can_grow(scan, p, SIGNAL_WINDOW))
            break;
        if (close == FORM_EXACT || close == FORM_WRONG)
            end = i + scan->scanner->tag_length + 3;
        else if (again == FORM_EXACT || again == FORM_WRONG)
            end = i;
        else
            continue;
        report_malformed(scan, p, end - p, type);
        return end - p;
    }
    scan->no_tag = i;
    if (can_grow(scan, p, SIGNAL_WINDOW))
        return NEED_MORE;
    report_malformed(scan, p, end - p, type);
    return end - p;
}

/* `<tag>TYPE:` has been read up to body; the first exact closing tag ends the payload. A RESULT
 * that does not end in its own window is malformed as any other, with a report of the usual size.
 */
static size_t step_payload(Scan *scan, size_t p, size_t open, size_t body)
{
    SignalType type = SIGNAL_NONE;
    const char *word = scan->text + p + open;
    (void)signal_type_find(word, body - 1 - p - open, &type); /* unknown: told by the judge */
    SignalType begun = type == SIGNAL_RESULT ? type : SIGNAL_NONE;
    size_t window = type == SIGNAL_RESULT ? SIGNAL_RESULT_WINDOW : SIGNAL_WINDOW;
    size_t end = window_end(scan, p, window);
    size_t i = next_bracket(scan, MAX(body, scan->no_close), end);
    Form close = FORM_NOT;
    for (; i < end; i = next_bracket(scan, i + 1, end)) {
        close = tag_at(scan, i, true);
        if (close == FORM_EXACT || (close == FORM_PARTIAL && can_grow(scan, p, window)))
            break;
    }
    scan->no_close = MAX(scan->no_close, i); /* a wider window may have seen more */
    if (i == end || close == FORM_PARTIAL)
        return can_grow(scan, p, window) ? NEED_MORE : step_malformed(scan, p, open, begun);
    if (i - body > signal_payload_max(type))
        return step_malformed(scan, p, open, begun);
    Signal signal = {0};
    signal_judge(word, body - 1 - p - open, scan->text + body, i - body, &signal);
    size_t size = i - p + scan->scanner->tag_length + 3;
    report(scan, p, size, &signal);
    return size;
}

/* An exact opening at p: TYPE, then ':' or the closing tag. */
static size_t step_exact(Scan *scan, size_t p, size_t open)
{
    size_t at = p + open;
    while (at < scan->length && at - p < SIGNAL_WINDOW &&
           (scan->text[at] == '_' || (scan->text[at] >= 'A' && scan->text[at] <= 'Z')))
        at++;
    if (at == scan->length && !scan->is_last && at - p < SIGNAL_WINDOW)
        return NEED_MORE;
    if (at == p + open || at == scan->length || at - p >= SIGNAL_WINDOW)
        return step_malformed(scan, p, open, SIGNAL_NONE);
    if (scan->text[at] == ':')
        return step_payload(scan, p, open, at + 1);
    Form close = scan->text[at] == '<' ? tag_at(scan, at, true) : FORM_NOT;
    if (close == FORM_PARTIAL && can_grow(scan, p, SIGNAL_WINDOW))
        return NEED_MORE;
    if (close != FORM_EXACT)
        return step_malformed(scan, p, open, SIGNAL_NONE);
    Signal signal = {0};
    signal_judge(scan->text + p + open, at - p - open, NULL, 0, &signal);
    size_t size = at - p + scan->scanner->tag_length + 3;
    report(scan, p, size, &signal);
    return size;
}

static size_t step(Scan *scan, size_t p)
{
    size_t open = scan->scanner->tag_length + 2;
    switch (tag_at(scan, p, false)) {
    case FORM_NOT:
        break;
    case FORM_PARTIAL:
        return scan->is_last ? 1 : NEED_MORE;
    case FORM_EXACT:
        return step_exact(scan, p, open);
    case FORM_WRONG:
        return step_malformed(scan, p, open, SIGNAL_NONE);
    }
    return 1;
}

/* Scans as far as can be decided; returns how many bytes are finished with. */
static size_t run(Scan *scan)
{
    size_t p = next_bracket(scan, 0, scan->length);
    char first = lower(scan->scanner->tag[0]);
    while (p < scan->length) {
        size_t moved = 1;
        if (p + 1 == scan->length || lower(scan->text[p + 1]) == first) /* else plain text */
            moved = step(scan, p);
        if (moved == NEED_MORE)
            return p;
        scan->no_tag = 0;
        p = next_bracket(scan, p + moved, scan->length);
    }
    return scan->length;
}

void signal_scanner_init(SignalScanner *scanner, const char *tag, SignalFound *found, void *context)
{
    memset(scanner, 0, sizeof *scanner);
    scanner->tag_length = strnlen(tag, SIGNAL_TAG_MAX);
    memcpy(scanner->tag, tag, scanner->tag_length);
    scanner->found = found;
    scanner->context = context;
}

/* Room for more bytes after what is held. */
static void make_room(SignalScanner *scanner, size_t more)
{
    size_t need = scanner->held_length + more;
    if (scanner->held_at + need <= scanner->held_size)
        return;
    if (scanner->held_at)
        memmove(scanner->held, scanner->held + scanner->held_at, scanner->held_length);
    scanner->held_at = 0;
    if (2 * need > scanner->held_size && scanner->held_size < HELD_MOST) {
        scanner->held_size = CLAMP(2 * need, (size_t)HELD_SIZE, (size_t)HELD_MOST);
        scanner->held = mem_grow(scanner->held, scanner->held_size, 1);
    }
}

static void hold(SignalScanner *scanner, const char *bytes, size_t length)
{
    if (length == 0)
        return;
    make_room(scanner, length);
    memcpy(scanner->held + scanner->held_at + scanner->held_length, bytes, length);
    scanner->held_length += length;
}

static size_t run_piece(SignalScanner *scanner, const char *bytes, size_t length, bool is_last)
{
    Scan scan = {scanner, bytes, length, scanner->no_tag, scanner->no_close, is_last};
    size_t used = run(&scan);
    scanner->no_tag = scan.no_tag > used ? scan.no_tag - used : 0;
    scanner->no_close = scan.no_close > used ? scan.no_close - used : 0;
    return used;
}

static void run_held(SignalScanner *scanner, bool is_last)
{
    const char *text = scanner->held + scanner->held_at;
    size_t used = run_piece(scanner, text, scanner->held_length, is_last);
    scanner->held_length -= used;
    scanner->held_at = scanner->held_length ? scanner->held_at + used : 0;
    if (scanner->held_length || scanner->held_size <= HELD_SIZE)
        return;
    free(scanner->held); /* of a RESULT; the next one is far away */
    scanner->held = NULL;
    scanner->held_size = 0;
}

void signal_scanner_feed(SignalScanner *scanner, const char *bytes, size_t length)
{
    while (length && scanner->held_length) {
        size_t take = MIN(length, (size_t)HELD_CHUNK);
        hold(scanner, bytes, take);
        bytes += take;
        length -= take;
        run_held(scanner, false);
    }
    if (length == 0)
        return;
    size_t used = run_piece(scanner, bytes, length, false);
    hold(scanner, bytes + used, length - used);
}

void signal_scanner_end(SignalScanner *scanner)
{
    if (scanner->held_length)
        run_held(scanner, true);
    scanner->no_tag = scanner->no_close = 0;
}

void signal_scanner_done(SignalScanner *scanner)
{
    free(scanner->held);
    scanner->held = NULL;
    scanner->held_at = scanner->held_length = scanner->held_size = 0;
}

void signal_scan(const char *text, size_t length, const char *tag, SignalFound *found,
                 void *context)
{
    CLEANUP(signal_scanner_done) SignalScanner scanner;
    signal_scanner_init(&scanner, tag, found, context);
    signal_scanner_feed(&scanner, text, length);
    signal_scanner_end(&scanner);
}
