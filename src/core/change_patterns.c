/* The tables of the guards: what is a test, what switches one off, what asserts. */
#include "core/change.h"

/* clang-format off */
static const PatternRow test_files[] = {
  { "**/tests/**",     "a folder of tests" },
  { "**/test/**",      "a folder of tests" },
  { "**/__tests__/**", "a folder of tests (JavaScript)" },
  { "**/spec/**",      "a folder of tests (Ruby)" },
  { "**/testdata/**",  "what tests read (Go)" },
  { "**/test_*",       "Python, C" },
  { "**/*_test.*",     "Go, C, C++, Rust, Python, Elixir" },
  { "**/*_tests.*",    "Rust, C++" },
  { "**/*_unittest.*", "C++" },
  { "**/*_spec.*",     "Ruby, Lua" },
  { "**/*.test.*",     "JavaScript, TypeScript" },
  { "**/*.spec.*",     "JavaScript, TypeScript" },
  { "**/conftest.py",  "Python: shared by tests" },
  { "**/*Test.*",      "Java, Kotlin, PHP, C#" },
  { "**/*Tests.*",     "Java, C#, Swift" },
  { "**/*IT.java",     "Java: integration tests" },
  { "**/*Spec.*",      "Scala, Groovy, Haskell" },
  { "**/*.bats",       "shell" },
  { "**/*.t",          "Perl" },
};

static const PatternRow skips[] = {
  { "@pytest.mark.skip",  "Python" },
  { "@pytest.mark.xfail", "Python: may fail" },
  { "pytest.skip(",       "Python" },
  { "pytest.importorskip(", "Python" },
  { "@unittest.skip",     "Python" },
  { "@unittest.expectedFailure", "Python" },
  { "self.skipTest(",     "Python" },
  { "raise SkipTest",     "Python" },
  { "collect_ignore",     "Python" },
  { "it.skip(",           "JavaScript" },
  { "it.only(",           "JavaScript: leaves the others out" },
  { "it.todo(",           "JavaScript" },
  { "it.fails(",          "JavaScript" },
  { "test.skip(",         "JavaScript" },
  { "test.only(",         "JavaScript: leaves the others out" },
  { "test.todo(",         "JavaScript" },
  { "test.fixme(",        "JavaScript" },
  { "describe.skip(",     "JavaScript" },
  { "describe.only(",     "JavaScript: leaves the others out" },
  { "suite.skip(",        "JavaScript" },
  { "^xit(",               "JavaScript, Swift" },
  { "^xtest(",             "JavaScript" },
  { "^xdescribe(",         "JavaScript" },
  { "^fit(",               "JavaScript: leaves the others out" },
  { "^fdescribe(",         "JavaScript: leaves the others out" },
  { "this.skip(",         "JavaScript" },
  { "t.Skip(",            "Go" },
  { "t.Skipf(",           "Go" },
  { "t.SkipNow(",         "Go" },
  { "b.Skip(",            "Go" },
  { "#[ignore",           "Rust" },
  { "@Disabled",          "Java" },
  { "@Ignore",            "Java, Kotlin" },
  { "Assume.",            "Java" },
  { "Assumptions.",       "Java" },
  { "[Ignore",            "C#" },
  { "[Fact(Skip",         "C#" },
  { "[Theory(Skip",       "C#" },
  { "DISABLED_",          "C++ (googletest)" },
  { "GTEST_SKIP(",        "C++ (googletest)" },
  { "return 77",          "C, shell: skipped for automake and meson" },
  { "exit 77",            "shell: skipped" },
  { "exit(77",            "C: skipped" },
  { "^skip(",              "Ruby, R, cmocka, bats" },
  { "^skip \"",            "Ruby, bats" },
  { "^skip '",             "Ruby, bats" },
  { "xspecify",           "Ruby" },
  { "^pending(",           "Ruby, Scala" },
  { "markTestSkipped(",   "PHP" },
  { "markTestIncomplete(", "PHP" },
  { "XCTSkip",            "Swift" },
  { "@tag :skip",         "Elixir" },
};

static const PatternRow assertions[] = {
  { "assert",       "most languages" },
  { "Assert",       "C#, Java" },
  { "ASSERT",       "C++" },
  { "XCTAssert",    "Swift" },
  { "ck_assert",    "C (check)" },
  { "TEST_ASSERT",  "C (unity)" },
  { "expect(",      "JavaScript, Ruby" },
  { "expect.",      "JavaScript" },
  { "expect!",      "Rust" },
  { "expect_",      "R, Elixir" },
  { "EXPECT_",      "C++" },
  { "REQUIRE(",     "C++" },
  { "REQUIRE_",     "C++" },
  { "CHECK(",       "C++" },
  { "CHECK_",       "C++" },
  { "require.",     "Go" },
  { "t.Error",      "Go" },
  { "t.Fatal",      "Go" },
  { "t.Fail",       "Go" },
  { ".should",      "JavaScript, Ruby, Scala" },
  { "must_",        "Ruby" },
  { "verify(",      "Java" },
  { "fail(",        "many" },
  { "fail_msg(",    "C (cmocka)" },
  { "pytest.raises", "Python" },
  { "ok(",          "Perl, JavaScript" },
  { "is(",          "Perl" },
  { "is_deeply(",   "Perl" },
  { "def test_",    "Python, Ruby: a whole test" },
  { "^it(",         "JavaScript: a whole test" },
  { "^test(",       "JavaScript: a whole test" },
  { "func Test",    "Go: a whole test" },
  { "#[test]",      "Rust: a whole test" },
  { "@Test",        "Java: a whole test" },
  { "TEST(",        "C++: a whole test" },
  { "TEST_F(",      "C++: a whole test" },
  { "cmocka_unit_test", "C: a whole test" },
  { "@test ",       "bats: a whole test" },
};

static const PatternRow trivials[] = {
  { "assert True",             "always holds" },
  { "assert 1",                "always holds" },
  { "assert 1 == 1",           "always holds" },
  { "assert true",             "always holds" },
  { "assert(true)",            "always holds" },
  { "assert(True)",            "always holds" },
  { "assert(1)",               "always holds" },
  { "assert!(true)",           "always holds" },
  { "assertTrue(true)",        "always holds" },
  { "assertTrue(True)",        "always holds" },
  { "assert.ok(true)",         "always holds" },
  { "assert_true(true)",       "always holds" },
  { "assert_true(1)",          "always holds" },
  { "expect(true).toBe(true)", "always holds" },
  { "expect(true).toBeTruthy()", "always holds" },
  { "expect(1).toBe(1)",       "always holds" },
  { "EXPECT_TRUE(true)",       "always holds" },
  { "ASSERT_TRUE(true)",       "always holds" },
  { "REQUIRE(true)",           "always holds" },
  { "CHECK(true)",             "always holds" },
  { "Assert.True(true)",       "always holds" },
  { "ok(1)",                   "always holds" },
};
/* clang-format on */

const PatternRow *test_file_rows(size_t *count)
{
    *count = COUNT(test_files);
    return test_files;
}

const PatternRow *skip_rows(size_t *count)
{
    *count = COUNT(skips);
    return skips;
}

const PatternRow *assertion_rows(size_t *count)
{
    *count = COUNT(assertions);
    return assertions;
}

const PatternRow *trivial_rows(size_t *count)
{
    *count = COUNT(trivials);
    return trivials;
}
