/* Calls that are not used here: each has a safer way in base/. Included in every file by the
 * build (-include), so that a bad call fails to compile. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets atoi atol atof
#pragma GCC poison system popen localtime gmtime ctime asctime tmpnam mktemp
