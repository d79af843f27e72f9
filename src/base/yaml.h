/* YAML reading: libyaml into the same tree as JSON, with the line of every key and list item.
 *
 * Plain scalars become null, booleans, integers, reals or strings (YAML 1.2 core words only:
 * yes/no stay strings). Anchors, aliases, tags and several documents are refused: a settings file
 * is data. Duplicate keys are an error. Lines are found by path: "limits.max_turns",
 * "verify.commands[0].timeout". */
#pragma once
#include "base/json.h"

typedef struct YamlDoc {
    json_t *root;  /* NULL for an empty text */
    json_t *lines; /* object: path -> line number, from 1 */
} YamlDoc;

bool yaml_read(const char *text, size_t length, YamlDoc *doc, Err *err) NODISCARD;
int yaml_line(const YamlDoc *doc, const char *path); /* 0 when unknown */
void yaml_done(YamlDoc *doc);
