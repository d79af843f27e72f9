/* Several writes as one put. Inside a transaction it is a savepoint, so that a put that breaks a
 * rule leaves no trace and the transaction goes on, as a put of one row does. */
#include "store/sqlite.h"

static bool group_say(Store *store, Slot slot, const char *sql, Err *err)
{
    Stmt stmt;
    return stmt_take(store, slot, sql, &stmt, err) && stmt_run(&stmt, err);
}

bool group_begin(Store *store, Group *group, Err *err)
{
    *group = (Group){store, !((SqliteStore *)store)->in_transaction};
    return group->is_own ? sqlite_begin(store, err)
                         : group_say(store, SLOT_GROUP_BEGIN, "SAVEPOINT put", err);
}

bool group_end(Group *group, bool is_done, Err *err)
{
    if (group->is_own && is_done)
        return sqlite_commit(group->store, err);
    if (group->is_own)
        sqlite_rollback(group->store);
    /* refused in a broken transaction, which is rolled back as a whole; any failure breaks it */
    else if (!is_done)
        IGNORE(group_say(group->store, SLOT_GROUP_UNDO, "ROLLBACK TO put", NULL) &&
               group_say(group->store, SLOT_GROUP_END, "RELEASE put", NULL));
    else
        return group_say(group->store, SLOT_GROUP_END, "RELEASE put", err);
    return false;
}
