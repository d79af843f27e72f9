/* JSON reading: jansson, wrapped with bounded parsing and getters that have defaults.
 *
 * For small documents only (settings, requests, event payloads); agent streams have their own
 * scanner. json_t is jansson's; free with json_decref or CLEANUP(json_freep). */
#pragma once
#include "base/err.h"
#include <jansson.h>
#include <stdint.h>

void json_freep(json_t **json);
/* NULL on error. Depth is bounded by the library (2,048); length by the caller. */
json_t *json_read(const char *text, size_t length, Err *err) NODISCARD;
json_t *json_read_file(const char *path, size_t limit_bytes, Err *err) NODISCARD;
const char *json_text(const json_t *object, const char *key, const char *fallback);
int64_t json_int(const json_t *object, const char *key, int64_t fallback);
bool json_flag(const json_t *object, const char *key, bool fallback);
/* Compact text, keys in insertion order; the caller frees it. */
char *json_write(const json_t *json);
char *json_write_pretty(const json_t *json);
