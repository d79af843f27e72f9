/* Workflows as SVG: see workflow_graph.h.
 *
 * One phase a layer, from top to bottom. Every way out of a phase has its own line beside the box,
 * with its results above it: a stop ends in a pill there; what leads to a phase goes on to a lane
 * of its own at the right and comes back to the top of that phase's box. So no two labels meet,
 * whatever the workflow. */
#include "core/workflow_draw.h"
#include "core/workflow_graph.h"
#include <stdio.h>
#include <string.h>

enum {
    LEFT = 130,       /* room for the statuses that enter */
    BOX = 150,        /* width of a phase */
    TEXT = 500,       /* width of the lines with labels */
    LABEL_CHARS = 58, /* of a line of labels */
    LINE = 14,        /* height of a line of labels */
    GAP = 34,         /* between phases */
    LANE = 14,
    LABEL_LINES = 12, /* of one way; more are cut */
};

typedef struct Line { /* one way out of a phase */
    Way way;
    unsigned from;
    int to;               /* phase; -1 a stop or rollback */
    unsigned first, last; /* lines of labels */
    int y, lane;
} Line;

typedef struct Picture {
    const Workflow *flow;
    Arena *arena;
    Line *lines;
    unsigned line_count;
    int *top, *bottom;   /* of boxes */
    const char **labels; /* lines of labels of all ways */
    unsigned label_count, label_size;
    unsigned lanes;
    int width, height;
} Picture;

static const char *const colours[] = {"#1f5fa8", "#8a4b08", "#2f7d32", "#7b2d8b",
                                      "#00727a", "#a3262a", "#5b5b00", "#44546a"};

/* Text of others never becomes markup. */
static void add_text(Str *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            str_add(out, "&amp;");
            break;
        case '<':
            str_add(out, "&lt;");
            break;
        case '>':
            str_add(out, "&gt;");
            break;
        case '"':
            str_add(out, "&quot;");
            break;
        default:
            str_add_char(out, (unsigned char)*text < 0x20 ? ' ' : *text);
        }
    }
}

static void add_label(Picture *p, const char *text, size_t length)
{
    if (p->label_count == p->label_size) {
        unsigned size = p->label_size ? p->label_size * 2 : 64;
        const char **labels = arena_alloc(p->arena, size * sizeof *labels);
        if (p->label_count)
            memcpy(labels, p->labels, p->label_count * sizeof *labels);
        p->labels = labels;
        p->label_size = size;
    }
    p->labels[p->label_count++] = arena_strndup(p->arena, text, length);
}

/* Breaks "a, b [x], c" after commas. */
static void split_labels(Picture *p, Line *line)
{
    const char *at = line->way.labels;
    line->first = p->label_count;
    while (*at && p->label_count - line->first < LABEL_LINES) {
        size_t length = 0;
        while (at[length]) {
            size_t next = strcspn(at + length, ","), piece = next + (at[length + next] == ',');
            if (length && length + piece > LABEL_CHARS)
                break;
            length += piece;
            length += at[length] == ' ';
        }
        add_label(p, at, length);
        at += length;
    }
    line->last = p->label_count;
}

static void gather(Picture *p)
{
    const Workflow *flow = p->flow;
    Way ways[WAYS_MAX];
    p->lines = arena_alloc(p->arena, (size_t)flow->phase_count * WAYS_MAX * sizeof *p->lines);
    for (unsigned i = 0; i < flow->phase_count; i++) {
        unsigned count = draw_ways(flow, i, false, p->arena, ways);
        for (unsigned w = 0; w < count; w++) {
            Line *line = &p->lines[p->line_count++];
            *line = (Line){.way = ways[w], .from = i, .lane = -1};
            line->to = workflow_phase_index(flow, ways[w].to);
            split_labels(p, line);
        }
    }
}

static void place(Picture *p)
{
    int y = 56;
    unsigned next = 0;
    p->top = arena_alloc(p->arena, p->flow->phase_count * sizeof *p->top);
    p->bottom = arena_alloc(p->arena, p->flow->phase_count * sizeof *p->bottom);
    for (unsigned i = 0; i < p->flow->phase_count; i++) {
        p->top[i] = y;
        y += 26; /* the line on which others come in */
        for (; next < p->line_count && p->lines[next].from == i; next++) {
            Line *line = &p->lines[next];
            y += (int)(line->last - line->first) * LINE + 10;
            line->y = y;
        }
        y = MAX(y + 10, p->top[i] + 46);
        p->bottom[i] = y;
        y += GAP;
    }
    p->height = y + 26;
}

static int line_top(const Picture *p, const Line *line)
{
    return MIN(line->y, p->top[line->to] + 14);
}

static int line_bottom(const Picture *p, const Line *line)
{
    return MAX(line->y, p->top[line->to] + 14);
}

/* May this line share a lane with those that have it? Ways to the same phase may meet. */
static bool lane_is_free(const Picture *p, const Line *line, int lane)
{
    for (unsigned i = 0; i < p->line_count; i++) {
        const Line *other = &p->lines[i];
        if (other->lane == lane && other->to != line->to &&
            line_top(p, line) <= line_bottom(p, other) + 6 &&
            line_top(p, other) <= line_bottom(p, line) + 6)
            return false;
    }
    return true;
}

/* Short ways first, so that they lie inside. */
static void choose_lanes(Picture *p)
{
    for (;;) {
        Line *shortest = NULL;
        for (unsigned i = 0; i < p->line_count; i++) {
            Line *line = &p->lines[i];
            if (line->to >= 0 && line->lane < 0 &&
                (!shortest || line_bottom(p, line) - line_top(p, line) <
                                  line_bottom(p, shortest) - line_top(p, shortest)))
                shortest = line;
        }
        if (!shortest)
            break;
        int lane = 0;
        while (!lane_is_free(p, shortest, lane))
            lane++;
        shortest->lane = lane;
        p->lanes = MAX(p->lanes, (unsigned)lane + 1);
    }
    p->width = LEFT + BOX + TEXT + (int)p->lanes * LANE + 40;
}

/* Drawing */

static void draw_head(const Picture *p, Str *out)
{
    str_addf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"11\">\n",
        p->width, p->height, p->width, p->height);
    str_add(out, "<title>Workflow ");
    add_text(out, p->flow->name);
    str_add(out, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<defs>\n");
    for (size_t i = 0; i < COUNT(colours); i++)
        str_addf(out,
                 "<marker id=\"a%zu\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
                 "markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0,0 L8,4 L0,8 z\" "
                 "fill=\"%s\"/></marker>\n",
                 i, colours[i]);
    str_addf(out, "</defs>\n<text x=\"%d\" y=\"24\" font-size=\"16\" font-weight=\"bold\">", LEFT);
    add_text(out, p->flow->name);
    str_addf(out, "</text>\n<text x=\"%d\" y=\"42\" fill=\"#444\">", LEFT);
    add_text(out, p->flow->help);
    str_add(out, "</text>\n");
}

static void draw_box(const Picture *p, unsigned index, Str *out)
{
    static const char *const fills[PHASE_KIND_COUNT] = {
        [PHASE_AGENT] = "#e8f0fa",    [PHASE_VERIFY] = "#e9f6ea",  [PHASE_GATE] = "#fdf3e1",
        [PHASE_MERGE] = "#efe8f7",    [PHASE_APPROVE] = "#fdeaea", [PHASE_REPORT] = "#f2f2f2",
        [PHASE_CHILDREN] = "#f2f2f2", [PHASE_OBSERVE] = "#e3f4f5",
    };
    const WorkflowPhase *phase = &p->flow->phases[index];
    int top = p->top[index];
    str_addf(out,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\" "
             "stroke=\"#333\"/>\n<text x=\"%d\" y=\"%d\" font-size=\"14\" font-weight=\"bold\">",
             LEFT, top, BOX, p->bottom[index] - top, fills[phase->kind], LEFT + 10, top + 20);
    add_text(out, phase->name);
    str_addf(out, "</text>\n<text x=\"%d\" y=\"%d\" fill=\"#444\">%s%s</text>\n", LEFT + 10,
             top + 36, phase_kind_word(phase->kind), phase->is_fresh ? ", fresh" : "");
}

static void draw_entry(const Picture *p, unsigned index, Str *out)
{
    const char *entries = draw_entries(p->flow, p->flow->phases[index].name, p->arena);
    int y = p->top[index] + 14;
    if (!*entries)
        return;
    for (const char *at = entries; *at;) {
        size_t length = strcspn(at, ",");
        str_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-style=\"italic\">",
                 LEFT - 30, y + 4);
        add_text(out, arena_strndup(p->arena, at, length));
        str_add(out, "</text>\n");
        at += length;
        at += strspn(at, ", ");
        y += LINE;
    }
    str_addf(out, "<path d=\"M%d,%d H%d\" stroke=\"%s\" fill=\"none\" marker-end=\"url(#a7)\"/>\n",
             LEFT - 26, p->top[index] + 14, LEFT - 1, colours[7]);
}

static void draw_labels(const Picture *p, const Line *line, Str *out)
{
    int y = line->y - 4 - ((int)(line->last - line->first) - 1) * LINE;
    for (unsigned i = line->first; p->labels && i < line->last; i++, y += LINE) {
        str_addf(out, "<text x=\"%d\" y=\"%d\">", LEFT + BOX + 8, y);
        add_text(out, p->labels[i]);
        str_add(out, "</text>\n");
    }
}

/* A stop is a red line to a full pill, a rollback a broken line to an open one. */
static void draw_end(const Picture *p, const Line *line, Str *out)
{
    bool is_back = !strcmp(line->way.to, WF_ROLLBACK);
    int x = LEFT + BOX + TEXT - 110;
    bool is_done = !strcmp(line->way.state, "done");
    unsigned hue = is_back ? 3 : is_done ? 2 : 5;
    const char *colour = colours[hue];
    str_addf(out,
             "<path d=\"M%d,%d H%d\" stroke=\"%s\"%s fill=\"none\" marker-end=\"url(#a%u)\"/>\n"
             "<rect x=\"%d\" y=\"%d\" width=\"116\" height=\"16\" rx=\"8\" fill=\"%s\" "
             "stroke=\"%s\"%s/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s",
             LEFT + BOX, line->y, x - 1, colour, is_back ? " stroke-dasharray=\"5 3\"" : "", hue, x,
             line->y - 8, is_back ? "#ffffff" : colour, colour,
             is_back ? " stroke-dasharray=\"5 3\"" : "", x + 58, line->y + 4,
             is_back ? colour : "#ffffff", is_back ? "back: " : "");
    add_text(out, line->way.state);
    str_add(out, "</text>\n");
    (void)p;
}

static void draw_way(const Picture *p, const Line *line, Str *out)
{
    int start = LEFT + BOX, lane = start + TEXT + 14 + line->lane * LANE;
    int in = p->top[line->to] + 14;
    size_t colour = (size_t)line->to % COUNT(colours);
    str_addf(out,
             "<path d=\"M%d,%d H%d Q%d,%d %d,%d V%d Q%d,%d %d,%d H%d\" stroke=\"%s\" fill=\"none\" "
             "marker-end=\"url(#a%zu)\"/>\n",
             start, line->y, lane - 5, lane, line->y, lane, line->y + (in > line->y ? 5 : -5),
             in + (in > line->y ? -5 : 5), lane, in, lane - 5, in, start + 1, colours[colour],
             colour);
    str_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-weight=\"bold\" fill=\"%s\">",
             start + TEXT + 6, line->y - 4, colours[colour]);
    add_text(out, p->flow->phases[line->to].name);
    str_add(out, "</text>\n");
}

void workflow_graph_svg(const Workflow *workflow, Str *out)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    Picture p = {.flow = workflow, .arena = &arena};
    gather(&p);
    place(&p);
    choose_lanes(&p);
    draw_head(&p, out);
    for (unsigned i = 0; i < p.line_count; i++) {
        if (p.lines[i].to >= 0)
            draw_way(&p, &p.lines[i], out);
    }
    for (unsigned i = 0; i < workflow->phase_count; i++) {
        draw_box(&p, i, out);
        draw_entry(&p, i, out);
    }
    for (unsigned i = 0; i < p.line_count; i++) {
        if (p.lines[i].to < 0)
            draw_end(&p, &p.lines[i], out);
        draw_labels(&p, &p.lines[i], out);
    }
    str_addf(
        out,
        "<text x=\"%d\" y=\"%d\" fill=\"#444\">Accidents (a killed agent, a check that cannot be "
        "run, …) and spent turns or time are left out; they keep the status.</text>\n</svg>\n",
        LEFT, p.height - 14);
}
