# Says hello.
greeting() { echo "Hello"; }
