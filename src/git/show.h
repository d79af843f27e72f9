/* Looking at commits: differences and history, in the hub only. */
#pragma once
#include "git/hub.h"

/* diff {hub, from, to, stat?, limit_bytes?} -> {text, cut} */
bool diff_job(const json_t *in, json_t *out, Err *err);
/* log {hub, base?, commit, limit?} -> {commits: [{commit, author_ms, author, subject}], truncated}
 * Newest first, what is in commit and not in base (none or "": the whole history); at most 200,
 * names and subjects cut at 200 bytes. */
bool log_job(const json_t *in, json_t *out, Err *err);
