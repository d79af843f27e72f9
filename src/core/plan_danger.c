/* The floor of safety for commands that a plan asks the engine to run (A-208, B-64, B-270).
 *
 * It is a net for slips and for plain malice, not a sandbox: commands run in a checkout of their
 * own with the limits of the gate. What hits a row must be asked for by a person instead. */
#include "base/pattern.h"
#include "core/excerpt.h"
#include "core/plan.h"
#include <stdlib.h>
#include <string.h>

#define START "(^|[;&|(`{\n]|\\$\\(|[ \t](then|do|else|exec|env|time|xargs)[ \t])[ \t]*"
#define SHELL "(ba|z|da|k)?sh|python[0-9.]*|perl|ruby|node|php"

/* clang-format off */
static const DangerRow rows[] = {
  /* id                  pattern                                                                        unless  why */
  { "delete",            START "rm[ \t]+(-[-a-z=]+[ \t]+)*-[a-z]*r[-a-z]*[ \t]+([^;&|]*[ \t])?[\"']?(/|~|\\$|\\.\\.|\\*|\\.git\\b|\\.([ \t/;&|\"']|$))", NULL, "deletes recursively outside of the work" },
  { "delete",            "find[ \t]+[/~$][^|;]*-(delete|exec[ \t]+rm)",                                 NULL, "deletes recursively outside of the work" },
  { "disk",              START "(mkfs[.a-z0-9]*|wipefs|shred|fdisk|parted)\\b|\\bdd\\b[^|;]*of=/dev/|>[ \t]*/dev/(sd|nvme|vd|hd)", NULL, "writes to a disk" },
  { "git-destroy",       "\\bgit\\b[^;&|]*\\b(push|reset[ \t]+--hard|clean[ \t]+-[a-z]*f|filter-branch|update-ref|reflog[ \t]+expire)\\b", NULL, "moves or destroys git history" },
  { "database",          "\\b(drop[ \t]+(table|database|schema)|truncate[ \t]+table)\\b",               NULL, "destroys a database" },
  { "download-and-run",  "\\b(curl|wget|fetch)\\b.*\\|[ \t]*(sudo[ \t]+)?(" SHELL ")\\b",              NULL, "runs what it downloads" },
  { "download-and-run",  "\\b(" SHELL "|eval|source)\\b[^;]*(<\\(|\\$\\(|`)[ \t]*(curl|wget)\\b",      NULL, "runs what it downloads" },
  { "obfuscated",        "\\b(base64|xxd|openssl|gunzip|zcat)\\b.*\\|[ \t]*(" SHELL ")\\b|\\$'\\\\x",   NULL, "hides what it runs" },
  { "eval",              START "eval[ \t]",                                                             NULL, "builds the command it runs" },
  { "reverse-shell",     "/dev/(tcp|udp)/|\\b(nc|ncat|netcat)\\b[^|;]*[ \t]-[a-z]*[ec]\\b|\\bsocat\\b.*exec|\\bbash[ \t]+-i\\b", NULL, "opens a shell to the outside" },
  { "secrets",           "\\.ssh/|\\bid_(rsa|ed25519|ecdsa)\\b|\\.aws/|\\.netrc\\b|\\.gnupg|\\.kube/config|/etc/shadow|\\.git-credentials|\\.docker/config", NULL, "touches credentials" },
  { "env-file",          "(^|[ \t/\"'=<>])\\.env(\\.(local|production))?($|[ \t;&|\"'<>])",             NULL, "touches a file of secrets" },
  { "send-out",          "\\b(curl|wget)\\b[^;|]*([ \t](-d|-F|-T|--data[-a-z]*|--form|--upload-file|--post-(data|file)|-X[ \t]*(POST|PUT|DELETE|PATCH)))", "://(localhost|127\\.|\\[::1\\])", "sends data to the outside" },
  { "send-out",          START "(sendmail|mail|mutt|scp|rsync|sftp|ftp|ssh|telnet)[ \t]",               NULL, "sends data to the outside" },
  { "publish",           "\\b((npm|yarn|pnpm|cargo|gem)[ \t]+(publish|push)|twine[ \t]+upload|docker[ \t]+push|gh[ \t]+(release|pr|issue|api)|kubectl[ \t]+(apply|delete)|terraform[ \t]+(apply|destroy))\\b", NULL, "publishes or deploys" },
  { "system-packages",   START "(apt|apt-get|dnf|yum|apk|pacman|zypper|brew|snap)[ \t]+[-a-z \t]*(install|remove|purge|upgrade|add|-S)\\b", NULL, "changes the system's packages" },
  { "privilege",         START "(sudo|su|doas|pkexec)\\b|\\bchmod[ \t]+(-[a-z]+[ \t]+)*([ugoa]*\\+[rwx]*s|[0-7]?777)|\\bchown[ \t]+-[a-z]*r", NULL, "takes or gives away rights" },
  { "environment",       "\\b(LD_PRELOAD|LD_AUDIT|BASH_ENV|PROMPT_COMMAND|DYLD_INSERT_LIBRARIES|GIT_SSH_COMMAND)=", NULL, "bends the environment of other programs" },
  { "outside",           "\\.\\./\\.\\./\\.\\./|/proc/(self|[0-9]+)/|/etc/(passwd|sudoers|cron)|[ \t>]/(boot|root|sys)/", NULL, "reaches outside of the work" },
  { "configuration",     "(>|\\btee\\b)[^|;]*(\\.(bashrc|bash_profile|profile|zshrc|gitconfig)\\b|\\.config/|/etc/)|\\bgit[ \t]+config[ \t]+--(global|system)|" START "(crontab|systemctl|launchctl)[ \t]", NULL, "changes the configuration of the machine" },
  { "name-tunnel",       "\\b(dig|nslookup|host|ping)\\b[^;|]*(\\$\\(|`)",                              NULL, "carries data in names" },
  { "metadata-service",  "169\\.254\\.169\\.254|metadata\\.(google|azure)",                             NULL, "asks for the machine's own credentials" },
  { "processes",         START "(shutdown|reboot|halt|poweroff|killall|pkill)\\b|\\bkill[ \t]+-(9|KILL)[ \t]+-?1\\b|:\\(\\)[ \t]*\\{", NULL, "ends processes that are not its own" },
  { "own-gate",          "\\botto[ \t]+(approve|answer|redo|reject|run|retry|skip|rm|edit|add|target|rollback|signal|stop|config)\\b", NULL, "answers for the person or the engine" },
};
/* clang-format on */

const DangerRow *danger_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

static const Pattern *read_row(Arena *arena, const char *words)
{
    const Pattern *pattern = pattern_read(arena, words);
    if (!pattern)
        abort(); /* a slip in our own table; every row is tested */
    return pattern;
}

/* The first row that each command hits; NULL for none. */
static void find_hits(const PlanCheck *checks, size_t count, const DangerRow **hits)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const Pattern *pattern = read_row(&arena, rows[i].pattern);
        const Pattern *unless = rows[i].unless ? read_row(&arena, rows[i].unless) : NULL;
        for (size_t j = 0; j < count; j++) {
            bool is_run = strcmp(checks[j].mode, "executable") == 0; /* nothing else is */
            if (!hits[j] && is_run && pattern_fits(pattern, checks[j].command) &&
                !(unless && pattern_fits(unless, checks[j].command)))
                hits[j] = &rows[i];
        }
    }
}

const DangerRow *command_danger(const char *command)
{
    const PlanCheck check = {.command = command, .mode = "executable"};
    const DangerRow *hit = NULL;
    find_hits(&check, 1, &hit);
    return hit;
}

TextList plan_unsafe(const json_t *plan, Arena *arena)
{
    size_t count;
    const PlanCheck *checks = plan_checks(plan, arena, &count);
    const DangerRow **hits = arena_alloc(arena, (count + 1) * sizeof *hits);
    TextList list = {arena_alloc(arena, (count + 1) * sizeof *list.items), 0};
    find_hits(checks, count, hits);
    for (size_t i = 0; i < count; i++) {
        if (hits[i])
            list.items[list.count++] =
                arena_printf(arena, "step %u, %s: it %s: %s", checks[i].step, hits[i]->id,
                             hits[i]->why, excerpt(arena, checks[i].command, 200));
    }
    return list;
}
