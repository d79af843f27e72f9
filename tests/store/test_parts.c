/* store/sqlite_parts: what is left of SQLite is whole. */
#include "tests/test.h"

#include <sqlite3.h>

/* clang-format off */
static const struct {
    const char *sql, *answer;
} rows[] = {
    {"SELECT round(2.567, 2)", "2.57"},
    {"SELECT printf('%.3f %e', 1.5, 12345.678)", "1.500 1.234568e+04"},
    {"SELECT CAST('1.25e3' AS REAL) * 2 / 4", "625.0"},
    {"SELECT (17 % 5) || ' ' || (7 / 2.0)", "2 3.5"},
    {"SELECT avg(x) || ' ' || total(x) FROM (SELECT 1 AS x UNION SELECT 4)", "2.5 5.0"},
    {"SELECT strftime('%Y-%m-%d', 2460000.5)", "2023-02-25"},
    {"SELECT group_concat(x) FROM (SELECT x FROM (SELECT 3 AS x UNION ALL SELECT 1) ORDER BY x)", "1,3"},
    {"SELECT x FROM (SELECT 'b' AS x, 2 AS y UNION SELECT 'a', 1) WHERE x GLOB '[ab]' ORDER BY y DESC", "b"},
    {"SELECT count(*) FROM pragma_table_info('sqlite_schema')", "5"},
    {"PRAGMA integrity_check", "ok"},
};
/* clang-format on */

static void statements_without_the_parts_are_answered(void **state)
{
    (void)state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db, rows[i].sql, -1, &stmt, NULL) != SQLITE_OK)
            fail_msg("%s: %s", rows[i].sql, sqlite3_errmsg(db));
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(stmt, 0), rows[i].answer);
        assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements_without_the_parts_are_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
