# Runs every test in tests/. A test is a script that ends with 0 when it passes.
failed=0
for test in tests/*.sh; do
    if sh "$test"; then
        echo "ok   $test"
    else
        echo "FAIL $test"
        failed=1
    fi
done
exit $failed
