/* The parts of SQLite that no statement of ours uses, and so are not linked.
 *
 * A static SQLite whose parts are separate objects (Debian's) names every part once, in its tables
 * of functions and extensions; each name drags its part in: full text search, R-trees, JSON, the
 * mathematical functions with the tables of libm, the loader of shared libraries. Together they are
 * more than 600 KB, as much as all of our own code. The names below come first, so the linker does
 * not look further. They are weak: where SQLite is one object or comes from elsewhere, its own are
 * taken. tests/store/test_parts.c shows that what remains is whole, tools/parts.sh that no C code
 * of ours calls a function that is replaced here. */
#include <sqlite3.h>
#include <stdlib.h>

#define WEAK __attribute__((weak))

/* Extensions that are opened with each database: nothing to do. */
#define PART_EXTENSION(name)                                                                       \
    WEAK int name(sqlite3 *db);                                                                    \
    int name(sqlite3 *db)                                                                          \
    {                                                                                              \
        (void)db;                                                                                  \
        return SQLITE_OK;                                                                          \
    }

PART_EXTENSION(sqlite3DbstatRegister)
PART_EXTENSION(sqlite3Fts3Init)
PART_EXTENSION(sqlite3Fts5Init)
PART_EXTENSION(sqlite3JsonTableFunctions)
PART_EXTENSION(sqlite3RtreeInit)
PART_EXTENSION(sqlite3StmtVtabInit)

WEAK void sqlite3RegisterJsonFunctions(void);
void sqlite3RegisterJsonFunctions(void)
{
}

/* Functions of SQL alone. A wrong number would be worse than an end. */
#define PART_MATH(name)                                                                            \
    WEAK double name(double x);                                                                    \
    double name(double x)                                                                          \
    {                                                                                              \
        (void)x;                                                                                   \
        abort();                                                                                   \
    }
#define PART_MATH_TWO(name)                                                                        \
    WEAK double name(double x, double y);                                                          \
    double name(double x, double y)                                                                \
    {                                                                                              \
        (void)x;                                                                                   \
        (void)y;                                                                                   \
        abort();                                                                                   \
    }

PART_MATH(acos)
PART_MATH(acosh)
PART_MATH(asin)
PART_MATH(asinh)
PART_MATH(atan)
PART_MATH(atanh)
PART_MATH(cos)
PART_MATH(cosh)
PART_MATH(exp)
PART_MATH(log)
PART_MATH(sin)
PART_MATH(sinh)
PART_MATH(sqrt)
PART_MATH(tan)
PART_MATH(tanh)
PART_MATH(trunc)
PART_MATH_TWO(atan2)
PART_MATH_TWO(fmod)
PART_MATH_TWO(pow)

/* Threads of its sorter: there are none unless it is told to use some. */
WEAK int sqlite3ThreadCreate(void **thread, void *(*task)(void *), void *in);
int sqlite3ThreadCreate(void **thread, void *(*task)(void *), void *in)
{
    (void)thread;
    (void)task;
    (void)in;
    abort();
}

WEAK int sqlite3ThreadJoin(void *thread, void **out);
int sqlite3ThreadJoin(void *thread, void **out)
{
    (void)thread;
    (void)out;
    abort();
}
