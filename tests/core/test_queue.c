#include "tests/test.h"

#include "core/queue.h"
#include "core/score.h"
#include <stdlib.h>
#include <string.h>

/* --- score --- */

static void every_part_of_the_score_counts(void **state)
{
    (void)state;
    ScoreInput plain = {.priority = PRIORITY_NONE};
    assert_int_equal(score_static(&plain).total, 0);
    static const struct {
        ScoreInput in;
        ScorePart part;
        int32_t value;
    } cases[] = {
        {{.unblocks = 3, .priority = PRIORITY_NONE}, PART_UNBLOCKS, 30},
        {{.tags = TAG_CRITICAL, .priority = PRIORITY_NONE}, PART_CRITICAL, 50},
        {{.tags = TAG_QUICK_WIN, .priority = PRIORITY_NONE}, PART_QUICK_WIN, 30},
        {{.tags = TAG_NEXT, .priority = PRIORITY_NONE}, PART_NEXT, 200},
        {{.tags = TAG_LATER, .priority = PRIORITY_NONE}, PART_LATER, -200},
        {{.parent_done = 3, .parent_total = 5, .priority = PRIORITY_NONE}, PART_PARENT, 20},
        {{.parent_done = 2, .parent_total = 4, .priority = PRIORITY_NONE}, PART_PARENT, 0},
        {{.parent_done = 0, .parent_total = 0, .priority = PRIORITY_NONE}, PART_PARENT, 0},
        {{.retries = 2, .priority = PRIORITY_NONE}, PART_RETRIES, -30},
        {{.priority = 0}, PART_PRIORITY, 200},
        {{.priority = 1}, PART_PRIORITY, 100},
        {{.priority = 2}, PART_PRIORITY, 0},
        {{.priority = 3}, PART_PRIORITY, -100},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Score score = score_static(&cases[i].in);
        assert_int_equal(score.parts[cases[i].part], cases[i].value);
        assert_int_equal(score.total, cases[i].value);
    }
    assert_int_equal(score_tag_bit("critical"), TAG_CRITICAL);
    assert_int_equal(score_tag_bit("blue"), 0);
}

static void waiting_adds_up_to_its_caps(void **state)
{
    (void)state;
    assert_int_equal(score_age_bonus(0, 0), 0);
    assert_int_equal(score_age_bonus(29, 9), 29);
    assert_int_equal(score_age_bonus(30, 0), 80);
    assert_int_equal(score_age_bonus(50, 0), 100);
    assert_int_equal(score_age_bonus(100000, 0), 100);
    assert_int_equal(score_age_bonus(0, 10), 100);
    Score score = {0};
    score_age(&score, 40, 12);
    assert_int_equal(score.total, 40 + 50 + 100);
    assert_int_equal(score_minutes_waited(60000, 60000), 0);
    assert_int_equal(score_minutes_waited(60001, 180000), 1);
    assert_int_equal(score_minutes_waited(60000, 0), 0);
}

/* --- queue --- */

typedef struct Item {
    bool is_in;
    int32_t score;
    int64_t created_ms, ready_ms, cycle;
} Item;

enum { IDS = 300 };

static uint32_t naive_best(const Item *items, int64_t now_ms, int64_t cycle)
{
    uint32_t best = 0;
    int64_t best_score = 0;
    for (uint32_t id = 1; id < IDS; id++) {
        if (!items[id].is_in)
            continue;
        int64_t score =
            items[id].score + score_age_bonus(score_minutes_waited(items[id].ready_ms, now_ms),
                                              cycle - items[id].cycle);
        if (best == 0 || score > best_score ||
            (score == best_score && items[id].created_ms < items[best].created_ms)) {
            best = id;
            best_score = score;
        }
    }
    return best;
}

static uint32_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)(*seed >> 16);
}

static void random_push(Queue *queue, Item *items, uint32_t id, int64_t now_ms, int64_t cycle,
                        uint64_t *dice)
{
    int64_t back = random_next(dice) % 4 ? 0 : random_next(dice) % 5000000;
    items[id] = (Item){true, (int32_t)(random_next(dice) % 200) - 60, random_next(dice) % 50,
                       now_ms - back, cycle};
    queue_push(queue, id, items[id].score, items[id].created_ms, items[id].ready_ms);
}

static void the_queue_chooses_what_a_full_search_would_choose(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        uint64_t dice = seed * 7919;
        Item items[IDS] = {0};
        int64_t now_ms = 1700000000000, cycle = 0;
        Queue *queue = queue_new();
        for (unsigned round = 0; round < 3000; round++) {
            uint32_t id = 1 + random_next(&dice) % (IDS - 1);
            unsigned act = random_next(&dice) % 10;
            now_ms += random_next(&dice) % (act == 9 ? 900000 : 4000);
            if (!items[id].is_in && act < 6) {
                random_push(queue, items, id, now_ms, cycle, &dice);
            } else if (items[id].is_in && act < 2) {
                assert_true(queue_remove(queue, id));
                items[id].is_in = false;
            } else if (items[id].is_in && act < 4) {
                items[id].score = (int32_t)(random_next(&dice) % 200);
                assert_true(queue_update(queue, id, items[id].score));
            } else if (act >= 7) {
                uint32_t best = queue_best(queue, now_ms);
                assert_int_equal(best, naive_best(items, now_ms, cycle));
                if (best && act == 8) {
                    assert_true(queue_remove(queue, best));
                    items[best].is_in = false;
                    queue_cycle(queue);
                    cycle++;
                }
            }
        }
        queue_free(queue);
    }
}

static void a_load_of_old_tasks_is_chosen_right(void **state)
{
    (void)state;
    uint64_t dice = 99;
    enum { MANY = 3000 };
    int64_t now_ms = 1700000000000;
    Queue *queue = queue_new();
    queue_reserve(queue, MANY, MANY);
    uint32_t best = 0;
    int32_t best_score = -1;
    for (uint32_t id = 1; id < MANY; id++) {
        int64_t ready_ms = now_ms - (int64_t)(random_next(&dice) % 4000) * 60000;
        int32_t score = (int32_t)(random_next(&dice) % 500);
        int32_t total = score + score_age_bonus(score_minutes_waited(ready_ms, now_ms), 0);
        queue_push(queue, id, score, 0, ready_ms);
        if (total > best_score) {
            best_score = total;
            best = id;
        }
    }
    assert_int_equal(queue_best(queue, now_ms), best);
    assert_int_equal(queue_count(queue), MANY - 1);
    queue_free(queue);
}

static void equal_scores_go_to_the_oldest_then_the_lowest_id(void **state)
{
    (void)state;
    Queue *queue = queue_new();
    queue_push(queue, 5, 10, 100, 0);
    queue_push(queue, 9, 10, 50, 0);
    queue_push(queue, 7, 10, 50, 0);
    assert_int_equal(queue_best(queue, 0), 7);
    assert_true(queue_remove(queue, 7));
    assert_int_equal(queue_best(queue, 0), 9);
    assert_true(queue_remove(queue, 9));
    assert_int_equal(queue_best(queue, 0), 5);
    assert_true(queue_remove(queue, 5));
    assert_int_equal(queue_best(queue, 0), 0);
    assert_false(queue_remove(queue, 5));
    assert_false(queue_update(queue, 5, 1));
    queue_free(queue);
}

static void a_task_passed_by_ten_times_comes_next(void **state)
{
    (void)state;
    Queue *queue = queue_new();
    QueueAge age;
    queue_push(queue, 1, 0, 0, 0);
    for (uint32_t i = 0; i < 10; i++) {
        queue_push(queue, 2 + i, 90, 0, 0);
        assert_int_equal(queue_best(queue, 0), 2 + i);
        assert_true(queue_remove(queue, 2 + i));
        queue_cycle(queue);
    }
    queue_push(queue, 50, 90, 0, 0);
    assert_int_equal(queue_best(queue, 0), 1);
    assert_true(queue_age(queue, 1, 120000, &age));
    assert_int_equal(age.missed_cycles, 10);
    assert_int_equal(age.waited_minutes, 2);
    assert_false(queue_age(queue, 3, 0, &age));
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_the_score_counts),
        cmocka_unit_test(waiting_adds_up_to_its_caps),
        cmocka_unit_test(the_queue_chooses_what_a_full_search_would_choose),
        cmocka_unit_test(a_load_of_old_tasks_is_chosen_right),
        cmocka_unit_test(equal_scores_go_to_the_oldest_then_the_lowest_id),
        cmocka_unit_test(a_task_passed_by_ten_times_comes_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
