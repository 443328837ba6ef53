/* A dealer and a player of heads-up limit Texas hold'em by the protocol of the Annual Computer Poker Competition, 2.0.0.
 *
 *   dealer HANDS SEED      prints two ports, deals to the two players that connect, and prints the state of each hand
 *   dealer HANDS PORT x    plays at a port, and always calls
 *
 * The competition's own program is not here; this one does what its protocol says. Each state goes to both players, and
 * the one to act sends it back with its action. Blinds 5 and 10, bets 10 and 20, at most three raises in the first round
 * and four in the others. Player 0 has the big blind; the names change places with each hand.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE = 512, ROUNDS = 4, DECK = 52 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Connections: lines that end with \r\n. */

typedef struct {
    int fd, held;
    char data[2 * LINE];
} Peer;

static void say(Peer *peer, const char *text, size_t length) {
    while (length > 0) {
        ssize_t sent = write(peer->fd, text, length);
        if (sent <= 0) fail("write");
        text += sent;
        length -= (size_t)sent;
    }
}

/* Reads a line without its end; returns its length, or -1 at the end of the stream. */
static int hear(Peer *peer, char *line) {
    for (;;) {
        char *end = memchr(peer->data, '\n', (size_t)peer->held);
        if (end) {
            int length = (int)(end - peer->data), rest = peer->held - length - 1;
            int text = length > 0 && peer->data[length - 1] == '\r' ? length - 1 : length;
            if (text >= LINE) exit(1);
            memcpy(line, peer->data, (size_t)text);
            line[text] = 0;
            memmove(peer->data, end + 1, (size_t)rest);
            peer->held = rest;
            return text;
        }
        if (peer->held == sizeof peer->data) exit(1);
        ssize_t got = read(peer->fd, peer->data + peer->held, sizeof peer->data - (size_t)peer->held);
        if (got <= 0) return -1;
        peer->held += (int)got;
    }
}

static int at_once(int fd) {
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int))) fail("connect");
    return fd;
}

static int listening(int *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (void *)&at, size) || listen(fd, 1) || getsockname(fd, (void *)&at, &size)) fail("listen");
    *port = ntohs(at.sin_port);
    return fd;
}

/* The betting of a hand. */

typedef struct {
    char text[64];
    int length, round, in_round, raises, spent[2], folded, over;
} Betting;

static const Betting BEGUN = {.spent = {10, 5}};

static int to_act(const Betting *betting) {
    return (betting->round == 0) ^ (betting->in_round & 1);
}

/* Takes f, c or r; what is not allowed counts as a call. */
static void act(Betting *betting, char action) {
    int seat = to_act(betting), other = betting->spent[!seat];
    if (action == 'f' && betting->spent[seat] == other) action = 'c';
    if (action == 'r' && betting->raises == (betting->round ? 4 : 3)) action = 'c';
    betting->text[betting->length++] = action;
    betting->in_round++;
    if (action == 'f') {
        betting->folded = seat + 1;
        betting->over = 1;
    } else if (action == 'r') {
        betting->raises++;
        betting->spent[seat] = other + (betting->round < 2 ? 10 : 20);
    } else {
        betting->spent[seat] = other;
        if (betting->in_round < 2) return;
        betting->in_round = betting->raises = 0;
        if (++betting->round == ROUNDS) betting->over = 1;
        else betting->text[betting->length++] = '/';
    }
}

/* Cards are 0 to 51: rank * 4 + suit. */

static void shuffle(int *deck, int wanted) {
    for (int card = 0; card < DECK; card++) deck[card] = card;
    for (int at = 0; at < wanted; at++) {
        int other = at + (int)(random() % (DECK - at)), card = deck[at];
        deck[at] = deck[other];
        deck[other] = card;
    }
}

static char *put(char *to, const int *cards, int number) {
    for (int at = 0; at < number; at++) {
        *to++ = "23456789TJQKA"[cards[at] / 4];
        *to++ = "cdhs"[cards[at] % 4];
    }
    return to;
}

/* The top of a straight among ranks, as bits; 0 if there is none. An ace is also below the two. */
static int straight(int ranks) {
    int low = ranks << 1 | (ranks >> 12 & 1);
    for (int top = 12; top >= 3; top--)
        if ((low >> (top - 3) & 31) == 31) return top;
    return 0;
}

/* The worth of the best five of seven cards: a class, and ranks in the order in which they compare. */
static uint32_t worth(const int *hole, const int *board) {
    int count[13] = {0}, suits[4] = {0}, ranks = 0, flush = 0;
    for (int at = 0; at < 7; at++) {
        int card = at < 2 ? hole[at] : board[at - 2];
        count[card / 4]++;
        suits[card % 4] |= 1 << card / 4;
        ranks |= 1 << card / 4;
    }
    for (int suit = 0; suit < 4; suit++)
        if (__builtin_popcount((unsigned)suits[suit]) >= 5) flush = suits[suit];
    if (flush && straight(flush)) return 8u << 20 | (uint32_t)straight(flush);
    int kinds[5], sizes[5], used = 0;
    for (int size = 4; size >= 1; size--)
        for (int rank = 12; rank >= 0 && used < 5; rank--)
            if (count[rank] == size) kinds[used] = rank, sizes[used++] = size;
    int full = sizes[0] == 3 && sizes[1] >= 2;
    int class = sizes[0] == 4 ? 7 : full ? 6 : flush ? 5 : straight(ranks) ? 4 : sizes[0] == 3 ? 3 : sizes[0] == 2 ? 1 + (sizes[1] == 2) : 0;
    uint32_t value = class == 4 ? (uint32_t)straight(ranks) : 0;
    /* Four of a kind and two pairs leave one card beside them: the highest, also of a pair. */
    int grouped = class == 7 ? 1 : class == 2 ? 2 : 5, left = 5, beside = 0;
    for (int at = 0; at < used && at < grouped && left > 0 && class < 4 + 4 * (class > 5); left -= sizes[at++])
        value = value << 4 | (uint32_t)kinds[at];
    for (int at = grouped; at < used; at++)
        if (kinds[at] > beside) beside = kinds[at];
    if (grouped < 5) value = value << 4 | (uint32_t)beside;
    for (int rank = 12; class == 5 && rank >= 0 && left; rank--)
        if (flush >> rank & 1) value = value << 4 | (uint32_t)rank, left--;
    return (uint32_t)class << 20 | value;
}

/* Writes the state of a hand as `seat` sees it; 2 sees all. */
static int state(char *to, int seat, long hand, const Betting *betting, const int deck[]) {
    static const int SHOWN[] = {0, 3, 1, 1};
    int open = seat == 2 || (betting->over && !betting->folded);
    char *at = to + (seat == 2 ? sprintf(to, "STATE:%ld:%s:", hand, betting->text) : sprintf(to, "MATCHSTATE:%d:%ld:%s:", seat, hand, betting->text));
    if (open || seat == 0) at = put(at, deck, 2);
    *at++ = '|';
    if (open || seat == 1) at = put(at, deck + 2, 2);
    for (int round = 1, next = 4; round <= betting->round && round < ROUNDS; next += SHOWN[round++]) {
        *at++ = '/';
        at = put(at, deck + next, SHOWN[round]);
    }
    strcpy(at, "\r\n");
    return (int)(at + 2 - to);
}

static int dealt(long hands, unsigned seed) {
    Peer peers[2] = {0};
    int ports[2], doors[2], deck[DECK];
    long totals[2] = {0};
    char sent[LINE], line[LINE];
    srandom(seed);
    for (int name = 0; name < 2; name++) doors[name] = listening(&ports[name]);
    printf("%d %d\n", ports[0], ports[1]);
    fflush(stdout);
    for (int name = 0; name < 2; name++) {
        peers[name].fd = at_once(accept(doors[name], NULL, NULL));
        if (hear(&peers[name], line) < 0 || strncmp(line, "VERSION:2.", 10)) exit(1);
    }
    for (long hand = 0; hand < hands; hand++) {
        Betting betting = BEGUN;
        shuffle(deck, 9);
        for (;;) {
            for (int name = 0; name < 2; name++) {
                int length = state(sent, (int)(name ^ (hand & 1)), hand, &betting, deck);
                say(&peers[name], sent, (size_t)length);
            }
            if (betting.over) break;
            int seat = to_act(&betting), length = hear(&peers[seat ^ (hand & 1)], line);
            int known = state(sent, seat, hand, &betting, deck) - 2;
            if (length < known + 2 || strncmp(line, sent, (size_t)known) || line[known] != ':') exit(1);
            act(&betting, line[known + 1]);
        }
        int64_t ahead = (int64_t)worth(deck, deck + 4) - worth(deck + 2, deck + 4);
        if (betting.folded) ahead = betting.folded == 2 ? 1 : -1;
        int won = ahead > 0 ? betting.spent[1] : ahead < 0 ? -betting.spent[0] : 0;
        totals[hand & 1] += won;
        totals[!(hand & 1)] -= won;
        int length = state(sent, 2, hand, &betting, deck);
        printf("%.*s:%d|%d\n", length - 2, sent, won, -won);
        fflush(stdout);
    }
    printf("SCORE:%ld|%ld\n", totals[0], totals[1]);
    return 0;
}

static int played(long hands, int port) {
    Peer dealer = {.fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char line[LINE];
    if (connect(at_once(dealer.fd), (void *)&at, sizeof at)) fail("connect");
    say(&dealer, "VERSION:2.0.0\r\n", 15);
    for (int length; hands > 0 && (length = hear(&dealer, line)) >= 0;) {
        int seat, skip = 0;
        Betting betting = BEGUN;
        if (sscanf(line, "MATCHSTATE:%d:%*d:%n", &seat, &skip) < 1 || !skip) return 1;
        for (const char *action = line + skip; *action != ':'; action++)
            if (*action != '/') act(&betting, *action);
        hands -= betting.over;
        if (betting.over || to_act(&betting) != seat) continue;
        strcpy(line + length, ":c\r\n");
        say(&dealer, line, (size_t)length + 4);
    }
    return 0;
}

int main(int words, char **word) {
    if (words < 3) return 2;
    long hands = atol(word[1]);
    return words == 3 ? dealt(hands, (unsigned)atol(word[2])) : played(hands, atoi(word[2]));
}
