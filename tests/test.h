/* What every test program includes: cmocka in the order it wants its headers. */
#pragma once
#include <setjmp.h> /* NOLINT: cmocka needs it */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
