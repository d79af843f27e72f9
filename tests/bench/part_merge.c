/* P8: a clean merge into the target and the verdict on a conflict, beside git's own commands in the
 * same repository. Ten files against ten others, at three sizes of the tree. */
#include "base/file.h"
#include "tests/bench/subject.h"
#include <math.h>
#include <unistd.h>

enum { FILES_CHANGED = 10, FILES_A_FOLDER = 50, HASH_TEXT = 65 };

typedef struct Merging {
    Bench *bench;
    const char *repo, *hub;
    const char *const *env;
    char tip[HASH_TEXT], work[HASH_TEXT], clash[HASH_TEXT]; /* commits */
} Merging;

/* -- the repository -------------------------------------------------------------------------- */

static void stream_commit(Str *out, const char *branch, const char *from, unsigned first,
                          unsigned count, const char *word)
{
    str_addf(out, "commit refs/heads/%s\ncommitter bench <bench@localhost> 1700000000 +0000\n",
             branch);
    str_addf(out, "data 5\nbench\n");
    if (from)
        str_addf(out, "from %s\n", from);
    for (unsigned i = first; i < first + count; i++) {
        char text[128];
        int length = snprintf(text, sizeof text, "file %u\nline two\n%s\nline four\n", i, word);
        str_addf(out, "M 100644 inline src/folder%u/file%u\ndata %d\n%s\n", i / FILES_A_FOLDER, i,
                 length, text);
    }
    str_add(out, "\n");
}

static bool import(const Merging *merging, unsigned files, Err *err)
{
    Str stream = STR_INIT;
    stream_commit(&stream, "base", NULL, 0, files, "as it was");
    stream_commit(&stream, "main", "refs/heads/base", 0, FILES_CHANGED, "the target's");
    stream_commit(&stream, "work", "refs/heads/base", 20, FILES_CHANGED, "the agent's");
    stream_commit(&stream, "clash", "refs/heads/base", 5, FILES_CHANGED, "the other agent's");
    str_add(&stream, "done\n");
    const char *argv[] = {"git", "fast-import", "--quiet", "--done", NULL};
    Program program = {.argv = argv,
                       .envp = merging->env,
                       .cwd = merging->repo,
                       .input = stream.bytes,
                       .input_length = stream.length};
    bool is_done = program_run(&program, NULL, NULL, err);
    str_done(&stream);
    return is_done;
}

/* Runs git and gives the first word it printed. */
static bool git_word(const Merging *merging, const char *folder, const char *const *argv,
                     int ok_exit, Cost *cost, char word[HASH_TEXT], Err *err)
{
    Cost one;
    Str out = STR_INIT;
    Program program = {.argv = argv, .envp = merging->env, .cwd = folder, .ok_exit = ok_exit};
    bool is_fine = program_run(&program, &one, &out, err);
    (void)snprintf(word, HASH_TEXT, "%.*s", (int)strcspn(str_text(&out), " \n"), str_text(&out));
    str_done(&out);
    if (cost) {
        cost->cpu_s += one.cpu_s;
        cost->wall_s += one.wall_s;
    }
    return is_fine;
}

static bool find_commit(const Merging *merging, const char *branch, char out[HASH_TEXT], Err *err)
{
    const char *argv[] = {"git", "rev-parse", "--verify", branch, NULL};
    return git_word(merging, merging->repo, argv, 0, NULL, out, err);
}

/* -- otto's jobs ------------------------------------------------------------------------------ */

static bool otto_do(const Merging *merging, const char *job, const char *fields, Cost *cost,
                    json_t **reply, Err *err)
{
    Cost one;
    Str out = STR_INIT;
    const char *argv[] = {merging->bench->otto, "do", job, NULL};
    const char *input = arena_printf(&merging->bench->arena,
                                     "{\"hub\":\"%s\",\"repo\":\"%s\",\"target\":\"main\"%s}",
                                     merging->hub, merging->repo, fields);
    Program program = {
        .argv = argv, .envp = merging->env, .input = input, .input_length = strlen(input)};
    bool is_fine = program_run(&program, &one, &out, err);
    if (is_fine) {
        *reply = json_read(str_text(&out), out.length, err);
        is_fine = *reply != NULL;
    }
    str_done(&out);
    if (cost) {
        cost->cpu_s += one.cpu_s;
        cost->wall_s += one.wall_s;
    }
    if (is_fine && !json_flag(*reply, "ok", true)) {
        is_fine = err_set(err, ERR_GIT, "'otto do %s': %s", job, json_text(*reply, "error", "?"));
        json_freep(reply);
    }
    return is_fine;
}

static bool reset_target(const Merging *merging, Err *err)
{
    char word[HASH_TEXT];
    const char *argv[] = {"git", "update-ref", "refs/heads/main", merging->tip, NULL};
    return git_word(merging, merging->hub, argv, 0, NULL, word, err);
}

static bool otto_merge(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    Merging *merging = user;
    Arena *arena = &merging->bench->arena;
    CLEANUP(json_freep) json_t *merged = NULL, *landed = NULL;
    *cost = (Cost){0};
    if (!otto_do(merging, "merge",
                 arena_printf(arena, ",\"commit\":\"%s\",\"message\":\"bench\"", merging->work),
                 cost, &merged, err))
        return false;
    if (!text_equal(json_text(merged, "state", ""), "clean"))
        return err_set(err, ERR_GIT, "the merge is '%s': %s", json_text(merged, "state", "?"),
                       json_text(merged, "why", "?"));
    const char *fields =
        arena_printf(arena, ",\"commit\":\"%s\",\"old\":\"%s\",\"new\":\"%s\",\"deliver\":false",
                     merging->work, json_text(merged, "old", ""), json_text(merged, "new", ""));
    if (!otto_do(merging, "land", fields, cost, &landed, err))
        return false;
    if (!text_equal(json_text(landed, "state", ""), "landed"))
        return err_set(err, ERR_GIT, "the landing is '%s'", json_text(landed, "state", "?"));
    return reset_target(merging, err);
}

static bool judge_conflict(const Merging *merging, const char *explain, Cost *cost, Err *err)
{
    CLEANUP(json_freep) json_t *merged = NULL;
    const char *fields = arena_printf(&merging->bench->arena,
                                      ",\"commit\":\"%s\",\"message\":\"bench\",\"explain\":%s",
                                      merging->clash, explain);
    *cost = (Cost){0};
    if (!otto_do(merging, "merge", fields, cost, &merged, err))
        return false;
    return text_equal(json_text(merged, "state", ""), "conflict") ||
           err_set(err, ERR_GIT, "the merge is '%s'", json_text(merged, "state", "?"));
}

static bool otto_conflict(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    return judge_conflict(user, "false", cost, err);
}

static bool otto_explained(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    return judge_conflict(user, "true", cost, err);
}

/* -- the floors ------------------------------------------------------------------------------- */

static bool git_merge(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    Merging *merging = user;
    char tree[HASH_TEXT], commit[HASH_TEXT], word[HASH_TEXT];
    const char *merge[] = {"git", "merge-tree", "--write-tree", merging->tip, merging->work, NULL};
    const char *make[] = {"git", "commit-tree", tree, "-p",    merging->tip,
                          "-p",  merging->work, "-m", "bench", NULL};
    const char *move[] = {"git", "update-ref", "refs/heads/main", commit, merging->tip, NULL};
    *cost = (Cost){0};
    return git_word(merging, merging->hub, merge, 0, cost, tree, err) &&
           git_word(merging, merging->hub, make, 0, cost, commit, err) &&
           git_word(merging, merging->hub, move, 0, cost, word, err) && reset_target(merging, err);
}

static bool git_conflict(void *user, unsigned size, Cost *cost, Err *err)
{
    (void)size;
    Merging *merging = user;
    char tree[HASH_TEXT];
    const char *merge[] = {"git", "merge-tree", "--write-tree", merging->tip, merging->clash, NULL};
    *cost = (Cost){0};
    return git_word(merging, merging->hub, merge, 1, cost, tree, err);
}

/* -- the rows --------------------------------------------------------------------------------- */

static bool merging_open(Bench *bench, unsigned files, Merging *merging, Err *err)
{
    CLEANUP(json_freep) json_t *reply = NULL, *synced = NULL;
    static const char *const entries[] = {"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=b@localhost",
                                          "GIT_COMMITTER_NAME=bench",
                                          "GIT_COMMITTER_EMAIL=b@localhost", NULL};
    *merging =
        (Merging){.bench = bench,
                  .repo = bench_folder(bench, bench->disk),
                  .hub = arena_printf(&bench->arena, "%s/hub", bench_folder(bench, bench->disk)),
                  .env = env_with(&bench->arena, NULL, entries)};
    char word[HASH_TEXT];
    const char *init[] = {"git", "init", "-q", "-b", "main", NULL};
    if (access(bench->otto, X_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "there is no program '%s'", bench->otto);
    return git_word(merging, merging->repo, init, 0, NULL, word, err) &&
           import(merging, files, err) && find_commit(merging, "main", merging->tip, err) &&
           find_commit(merging, "work", merging->work, err) &&
           find_commit(merging, "clash", merging->clash, err) &&
           otto_do(merging, "hub", "", NULL, &reply, err) &&
           otto_do(merging, "sync", "", NULL, &synced, err);
}

static void clean_row(Merging *merging, unsigned files, const Err *err, double *cpu_ms)
{
    Bench *bench = merging->bench;
    Plan plan = {bench->plan.rounds, pick(bench, 12, 6)};
    Side sides[] = {
        {"git merge-tree + commit-tree + update-ref", git_merge, merging, .big = 1},
        {"otto do merge + otto do land", otto_merge, merging, .big = 1},
    };
    Row *row = table_add(&bench->table, "P8", "ms", "clean merge landed, CPU, %u files", files);
    Comparison found;
    if (err->kind != ERR_NONE) {
        row_fail(row, "%s", err->text);
        return;
    }
    compare(&plan, sides, COUNT(sides), GUARD_CPU, &found);
    if (!row_compare(row, &found, sides, true, 1e3))
        return;
    row_note(row, "wall %.2f ms against %.2f ms", found.sides[1].wall_s * 1e3,
             found.sides[0].wall_s * 1e3);
    row_goal(row, row->ratio <= 1.3, "<= 1.3 x floor");
    *cpu_ms = row->otto;
}

static void conflict_row(Merging *merging, unsigned files, const Err *err)
{
    Bench *bench = merging->bench;
    Plan plan = {bench->plan.rounds, pick(bench, 12, 6)};
    Side sides[] = {
        {"one git merge-tree", git_conflict, merging, .big = 1},
        {"otto do merge", otto_conflict, merging, .big = 1},
        {"with the explanation for the agent", otto_explained, merging, .big = 1, .repeats = 4},
    };
    Row *row = table_add(&bench->table, "P8", "ms", "conflict verdict, CPU, %u files", files);
    Comparison found;
    if (err->kind != ERR_NONE) {
        row_fail(row, "%s", err->text);
        return;
    }
    compare(&plan, sides, COUNT(sides), GUARD_CPU, &found);
    if (!row_compare(row, &found, sides, true, 1e3))
        return;
    row_note(row, "wall %.2f ms against %.2f ms", found.sides[1].wall_s * 1e3,
             found.sides[0].wall_s * 1e3);
    if (found.sides[2].is_measured)
        row_note(row, "%s %.2f ms", sides[2].name, found.sides[2].cpu_s * 1e3);
    row_goal(row, row->ratio <= 1.3, "<= 1.3 x floor");
}

void part_merge(Bench *bench)
{
    static const unsigned sizes[] = {100, 5000, 50000};
    double cpu_ms[COUNT(sizes)] = {NAN, NAN, NAN};
    for (size_t i = 0; i < COUNT(sizes) && !is_interrupted(); i++) {
        Err err = {0};
        Merging merging;
        (void)merging_open(bench, sizes[i], &merging, &err); /* the rows say what was wrong */
        clean_row(&merging, sizes[i], &err, &cpu_ms[i]);
        if (i != 1)
            conflict_row(&merging, sizes[i], &err);
    }
    Row *row = table_add(&bench->table, "P8", "ms", "clean merge, 50,000 files against 100");
    if (isnan(cpu_ms[0]) || isnan(cpu_ms[2])) {
        row_fail(row, "one of the two sizes is missing");
        return;
    }
    row_floor(row, cpu_ms[0], "otto at 100 files");
    row->otto = cpu_ms[2];
    row->ratio = cpu_ms[2] / cpu_ms[0];
    row_goal(row, row->ratio <= 1.3, "<= 1.3 x");
}
