/* Settings, inside: what reading a file, the environment and flags share. Private to settings*.c.
 */
#pragma once
#include "core/settings.h"

typedef struct SettingsReader {
    const YamlDoc *doc; /* NULL: not from the file */
    const char *place;  /* shown instead of file and line; NULL: the file */
    Settings *settings;
    SettingsProblems *problems;
} SettingsReader;

/* Line of a path, or of the nearest thing around it that has one. */
int settings_line(const SettingsReader *reader, const char *path);
void settings_problem_add(SettingsReader *reader, const char *path, const char *what);
void settings_problem_value(SettingsReader *reader, const char *path, const json_t *value,
                            const char *allowed);
void settings_problem_unknown(SettingsReader *reader, FieldTable table, const char *prefix,
                              const char *key, const char *path);
/* An agent that a key names must be one that the file describes; NULL is fine. */
void settings_check_agent(SettingsReader *reader, const char *key, const char *name);
