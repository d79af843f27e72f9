/* Tags, tokens and marks: made from the state folder's secret and the run's numbers by a keyed hash
 * (SipHash-2-4), so nothing has to be stored or looked up for them, and nobody can guess them. */
#include "engine/internal.h"
#include <string.h>
#include <sys/random.h>

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* The keyed hash of a few words. */
static uint64_t keyed(const uint8_t key[16], const uint64_t *words, size_t count)
{
    uint64_t k0, k1;
    memcpy(&k0, key, 8);
    memcpy(&k1, key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                     k1 ^ 0x7465646279746573u};
    for (size_t i = 0; i <= count; i++) {
        uint64_t word = i < count ? words[i] : (uint64_t)(count * 8) << 56;
        v[3] ^= word;
        sip_round(v);
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

enum { FOR_TAG = 1, FOR_TOKEN = 2, FOR_MARK = 4 };

static uint64_t of_run(const Engine *engine, uint64_t purpose, RunId run, uint32_t epoch)
{
    const uint64_t words[] = {purpose, run, epoch};
    return keyed(engine->secret, words, COUNT(words));
}

void secret_tag(const Engine *engine, RunId run, char out[SECRET_TEXT])
{
    (void)snprintf(out, SECRET_TEXT, "otto-%08llx", /* always fits */
                   (unsigned long long)(of_run(engine, FOR_TAG, run, 0) >> 32));
}

/* RUN-EPOCH-32 hex digits would be longer than needed: 64 + 32 bits cannot be guessed online. */
void secret_token(const Engine *engine, RunId run, uint32_t epoch, char out[SECRET_TEXT])
{
    (void)snprintf(out, SECRET_TEXT, "%x.%x.%016llx%08llx", run, epoch, /* fits below 2^32 */
                   (unsigned long long)of_run(engine, FOR_TOKEN, run, epoch),
                   (unsigned long long)of_run(engine, FOR_TOKEN + 1, run, epoch) >> 32);
}

void secret_mark(const Engine *engine, RunId run, uint32_t epoch, char out[SECRET_TEXT])
{
    (void)snprintf(out, SECRET_TEXT, "%u-%u-%016llx", run, epoch, /* fits below 2^32 */
                   (unsigned long long)of_run(engine, FOR_MARK, run, epoch));
}

bool secret_token_is_valid(const Engine *engine, const char *token, RunId *run, uint32_t *epoch)
{
    unsigned r = 0, e = 0;
    char right[SECRET_TEXT];
    if (strlen(token) >= SECRET_TEXT || sscanf(token, "%8x.%8x.", &r, &e) != 2)
        return false;
    secret_token(engine, r, e, right);
    if (strlen(right) != strlen(token))
        return false;
    unsigned difference = 0; /* constant time: how much is right must not show */
    for (size_t i = 0; right[i]; i++)
        difference |= (unsigned)(unsigned char)(right[i] ^ token[i]);
    *run = r;
    *epoch = e;
    return difference == 0;
}

bool secret_load(Engine *engine, Err *err)
{
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *stored = NULL;
    char hex[33];
    if (!store_meta_find(engine->store, "secret", &arena, &stored, err))
        return false;
    if (!stored || strlen(stored) != 32) {
        if (getrandom(engine->secret, sizeof engine->secret, 0) != sizeof engine->secret)
            return err_errno(err, "cannot get random bytes");
        for (size_t i = 0; i < sizeof engine->secret; i++)
            (void)snprintf(hex + 2 * i, 3, "%02x", engine->secret[i]); /* always fits */
        return store_meta_set(engine->store, "secret", hex, err);
    }
    for (size_t i = 0; i < sizeof engine->secret; i++) {
        unsigned byte = 0;
        if (sscanf(stored + 2 * i, "%2x", &byte) != 1)
            return err_set(err, ERR_CORRUPT, "the state folder's secret is damaged");
        engine->secret[i] = (uint8_t)byte;
    }
    return true;
}
