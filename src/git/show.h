/* Looking at commits: differences and history, in the hub only. */
#pragma once
#include "git/hub.h"

/* diff {hub, from, to, stat?, limit_bytes?} -> {text, cut} */
bool diff_job(const json_t *in, json_t *out, Err *err);
/* log {hub, from?, to, limit?} -> {commits: [{id, subject, author, time_ms}]} newest first */
bool log_job(const json_t *in, json_t *out, Err *err);
