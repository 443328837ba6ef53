/* Lets the program that valgrind runs say which part of it is counted. */

#include <valgrind/callgrind.h>

void begin_count(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void end_count(void) {
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
}
