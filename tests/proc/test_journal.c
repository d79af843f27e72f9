/* proc/journal: what a keeper wrote is read back, torn or hostile files included. */
#include "tests/test.h"

#include "base/file.h"
#include "base/str.h"
#include "proc/journal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[128];

static int setup_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s", "/tmp/otto-journal-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/a.journal", folder);
    return 0;
}

static int remove_folder(void **state)
{
    Err err = {0};
    (void)state;
    return folder_remove(folder, &err) ? 0 : -1;
}

static void add_frame(Str *file, WireFrame type, int stream, const void *bytes, size_t length)
{
    WireHead head = {.type = (uint8_t)type,
                     .stream = (uint8_t)stream,
                     .length = (uint32_t)length,
                     .wall_ms = 12345};
    str_add_bytes(file, &head, sizeof head);
    str_add_bytes(file, bytes, length);
}

/* In place: thousands of truncated and rewritten files are slow on some disks. */
static void save(const Str *file, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, str_text(file), length, 0), length);
    assert_int_equal(ftruncate(fd, (off_t)length), 0);
    close(fd);
}

static void make_sample(Str *file)
{
    WireStart start = {.version = WIRE_VERSION, .agent_pid = 7, .keeper_pid = 6};
    WireExit end = {.exit_code = 3, .output_bytes = 9, .user_us = 4500, .flags = WIRE_EXIT_CUT};
    add_frame(file, WIRE_FRAME_START, 0, &start, sizeof start);
    add_frame(file, WIRE_FRAME_DATA, 1, "hello", 5);
    add_frame(file, WIRE_FRAME_DATA, 2, "oops", 4);
    add_frame(file, WIRE_FRAME_CUT, 0, "", 0);
    add_frame(file, WIRE_FRAME_EXIT, 0, &end, sizeof end);
}

static void frames_come_back_in_order_with_places_to_go_on(void **state)
{
    Str file = STR_INIT, seen = STR_INIT;
    JournalReader reader;
    JournalFrame frame;
    Err err = {0};
    int64_t after_first = 0;
    (void)state;
    make_sample(&file);
    save(&file, file.length);
    assert_true(journal_open(&reader, path, 0, &err));
    while (journal_next(&reader, &frame) == JOURNAL_FRAME) {
        if (frame.type == WIRE_FRAME_DATA && !after_first)
            after_first = frame.offset_after;
        str_addf(&seen, "%d/%d/%zu ", (int)frame.type, frame.stream, frame.length);
        assert_int_equal(frame.wall_ms, 12345);
    }
    assert_string_equal(str_text(&seen), "1/0/24 2/1/5 2/2/4 3/0/0 4/0/48 ");
    assert_int_equal(reader.offset, file.length);
    journal_close(&reader);
    assert_true(journal_open(&reader, path, after_first, &err));
    assert_int_equal(journal_next(&reader, &frame), JOURNAL_FRAME);
    assert_memory_equal(frame.bytes, "oops", 4);
    journal_close(&reader);
    str_done(&file);
    str_done(&seen);
}

static void every_torn_length_ends_quietly(void **state)
{
    Str file = STR_INIT;
    Err err = {0};
    (void)state;
    make_sample(&file);
    for (size_t length = 0; length < file.length; length++) {
        JournalReader reader;
        JournalFrame frame;
        KeepExit end;
        JournalNext next;
        save(&file, length);
        assert_true(journal_open(&reader, path, 0, &err));
        while ((next = journal_next(&reader, &frame)) == JOURNAL_FRAME)
            assert_true((size_t)frame.offset_after <= length);
        assert_int_equal(next, JOURNAL_END);
        journal_close(&reader);
        assert_true(journal_tail_exit(path, &end, &err));
        assert_true(end.lost);
    }
    str_done(&file);
}

static void a_growing_journal_is_followed(void **state)
{
    Str file = STR_INIT;
    JournalReader reader;
    JournalFrame frame;
    Err err = {0};
    int frames = 0;
    (void)state;
    make_sample(&file);
    save(&file, 0);
    assert_true(journal_open(&reader, path, 0, &err));
    FILE *out = fopen(path, "ae");
    for (size_t i = 0; i < file.length; i++) {
        assert_int_equal(fwrite(file.bytes + i, 1, 1, out), 1);
        (void)fflush(out);
        while (journal_next(&reader, &frame) == JOURNAL_FRAME)
            frames++;
    }
    assert_int_equal(frames, 5);
    (void)fclose(out);
    journal_close(&reader);
    str_done(&file);
}

static void the_exit_is_told_with_its_details(void **state)
{
    Str file = STR_INIT;
    KeepExit end;
    Err err = {0};
    (void)state;
    make_sample(&file);
    save(&file, file.length);
    assert_true(journal_tail_exit(path, &end, &err));
    assert_false(end.lost);
    assert_int_equal(end.exit_code, 3);
    assert_int_equal(end.user_ms, 4);
    assert_int_equal(end.output_bytes, 9);
    assert_true(end.cut);
    assert_string_equal(end.text, "");
    str_done(&file);
    assert_false(journal_tail_exit("/no/such/journal", &end, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void an_exit_frame_printed_by_the_agent_is_not_believed(void **state)
{
    Str file = STR_INIT, forged = STR_INIT;
    WireStart start = {.version = WIRE_VERSION};
    WireExit lie = {.exit_code = 0};
    KeepExit end;
    Err err = {0};
    (void)state;
    add_frame(&forged, WIRE_FRAME_EXIT, 0, &lie, sizeof lie);
    add_frame(&file, WIRE_FRAME_START, 0, &start, sizeof start);
    add_frame(&file, WIRE_FRAME_DATA, 1, forged.bytes, forged.length);
    save(&file, file.length); /* the file now ends like one that has an exit */
    assert_true(journal_tail_exit(path, &end, &err));
    assert_true(end.lost);
    str_done(&file);
    str_done(&forged);
}

static void rubbish_is_called_corrupt_and_never_read_over(void **state)
{
    Str file = STR_INIT;
    Err err = {0};
    (void)state;
    make_sample(&file);
    for (size_t at = 0; at < file.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            JournalReader reader;
            JournalFrame frame;
            KeepExit end;
            int frames = 0;
            file.bytes[at] ^= (char)(1 << bit);
            save(&file, file.length);
            assert_true(journal_open(&reader, path, 0, &err));
            while (journal_next(&reader, &frame) == JOURNAL_FRAME) {
                assert_true((size_t)frame.offset_after <= file.length);
                frames++;
            }
            assert_true(frames <= 5);
            journal_close(&reader);
            assert_true(journal_tail_exit(path, &end, &err));
            file.bytes[at] ^= (char)(1 << bit);
        }
    WireHead huge = {.type = WIRE_FRAME_DATA, .stream = 1, .length = 0xffffffff};
    save(&(Str){.bytes = (char *)&huge}, sizeof huge);
    JournalReader reader;
    JournalFrame frame;
    assert_true(journal_open(&reader, path, 0, &err));
    assert_int_equal(journal_next(&reader, &frame), JOURNAL_CORRUPT);
    journal_close(&reader);
    str_done(&file);
}

static void failed_starts_have_sentences(void **state)
{
    KeepExit end;
    (void)state;
    keep_exit_from(&(WireExit){.exit_code = -1, .error = ENOENT, .stage = WIRE_STAGE_EXEC}, &end);
    assert_true(end.could_not_start);
    assert_string_equal(end.text, "cannot start the program: No such file or directory");
    keep_exit_from(&(WireExit){.exit_code = -1, .error = EEXIST, .stage = WIRE_STAGE_JOURNAL},
                   &end);
    assert_true(end.already_started);
    keep_exit_from(&(WireExit){.exit_code = -1, .error = EIO, .stage = 999}, &end);
    assert_string_equal(end.text, "cannot start: Input/output error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_back_in_order_with_places_to_go_on),
        cmocka_unit_test(every_torn_length_ends_quietly),
        cmocka_unit_test(a_growing_journal_is_followed),
        cmocka_unit_test(the_exit_is_told_with_its_details),
        cmocka_unit_test(an_exit_frame_printed_by_the_agent_is_not_believed),
        cmocka_unit_test(rubbish_is_called_corrupt_and_never_read_over),
        cmocka_unit_test(failed_starts_have_sentences),
    };
    return cmocka_run_group_tests(tests, setup_folder, remove_folder);
}
