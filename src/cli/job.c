/* Git jobs in this process: see job.h. */
#include "cli/job.h"
#include "base/str.h"
#include "engine/work.h"

static ErrKind kind_of(const char *name)
{
    for (int kind = ERR_NONE; kind <= ERR_INTERNAL; kind++)
        if (text_equal(err_kind_name((ErrKind)kind), name))
            return (ErrKind)kind;
    return ERR_PROCESS;
}

bool job_run(const char *name, const json_t *input, json_t **reply, Err *err)
{
    const WorkJob *job = work_job_find(name);
    if (!job)
        return err_set(err, ERR_INTERNAL, "there is no job '%s'", name);
    json_t *json = work_run(job, input);
    if (json_flag(json, "ok", false)) {
        *reply = json;
        return true;
    }
    (void)err_set(err, kind_of(json_text(json, "kind", "process")), "%s",
                  json_text(json, "error", "unknown error")); /* the result below says it failed */
    json_decref(json);
    return false;
}
