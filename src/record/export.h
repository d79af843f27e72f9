/* The inside of an export: files are put one by one, names are made here. */
#pragma once
#include "record/parts.h"

typedef struct ExportFolder {
    const char *name;
    Str lines; /* of its condensed summary */
    size_t entries;
} ExportFolder;

enum { EXPORT_FOLDERS_MAX = 256 };

typedef struct Export {
    Past *past;
    RecordLayout layout;
    RecordFileFn *fn;
    void *user;
    Err *err;
    bool has_failed;
    const char **paths; /* given out so far */
    size_t path_count, path_size;
    ExportFolder folders[EXPORT_FOLDERS_MAX];
    size_t folder_count;
} Export;

/* A file at a fixed path; ends with a newline in any case. */
void export_put(Export *export, const char *path, const char *text);
/* An entry of a history folder: "<folder>/<date>-<name>", with a number before the ending when the
 * path is taken. line is its line in the folder's condensed summary. */
void export_entry(Export *export, const char *folder, int64_t at_ms, const char *name,
                  const char *ending, const char *line, const char *text);
/* path, or the first of "path-2", "path-3" … that is free; ending comes after the number. */
const char *export_free_path(Export *export, const char *path, const char *ending);
void export_folder_summaries(Export *export);
/* ".analysis", or ".analysis-stage-1" for a stage that is over (B only). */
const char *export_stage_folder(Export *export, const char *folder, uint32_t stage);
bool export_is_old_stage(const Export *export, uint32_t stage);

void export_records(Export *export);     /* export_entries.c: the history folders */
void export_stage_files(Export *export); /* export_stages.c: what only B has */
void export_state(Export *export);       /* export_state.c: .index.json or .status.json */
