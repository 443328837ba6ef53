/* A bot in C: it plays a random legal move, in any game.
 *   cc -o random random.c && cardarena bridge -- ./random */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK "{\"ask\":"
#define ID "\"ask_id\":\""
#define SEED "\"seed\":"
#define TEXTS "\"move_texts\":[\""

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        if (strncmp(line, ASK, strlen(ASK)) != 0)
            continue;
        char *id = strstr(line, ID) + strlen(ID);
        char *texts = strstr(line, TEXTS) + strlen(TEXTS);
        char *end = strstr(texts, "\"]");
        long moves = 1;
        for (char *at = texts; (at = strstr(at, "\",\"")) && at < end; at++)
            moves++;
        srand((unsigned)strtoul(strstr(line, SEED) + strlen(SEED), NULL, 10));
        printf("{\"ask_id\":\"%.*s\",\"index\":%ld}\n", (int)strcspn(id, "\""), id, rand() % moves);
        fflush(stdout);
    }
    free(line);
    return 0;
}
