/*
 * What the floors of all SQL protocols share: connections, an epoll loop by hand in one thread, its draws and its
 * figures. A floor defines FLOOR, its name, includes this, and defines the three functions that its protocol takes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS = 256,
    ANSWER_MAX = 4096,
    MESSAGE_MAX = 65536,
    REQUEST_MAX = 128,
};

struct connection {
    int socket;
    unsigned filled; /* bytes of the answer so far */
    uint64_t random;
    unsigned requested; /* bytes of the request */
    unsigned char request[REQUEST_MAX];
    unsigned char answer[ANSWER_MAX];
};

/* Logs in, prepares the select, and makes the request. It may block. */
static void open_session(struct connection *connection, const char *user, const char *database);
/* Puts the id into the request. */
static void set_id(struct connection *connection, uint64_t id);
/* Whether what was received is a whole answer. */
static int is_whole(const struct connection *connection);

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs(FLOOR ": ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void receive_all(int socket, void *into, size_t length)
{
    for (unsigned char *at = into; length > 0;) {
        ssize_t got = recv(socket, at, length, 0);
        if (got <= 0)
            fail("the server closed a connection that was being opened");
        at += got;
        length -= (size_t)got;
    }
}

static int connect_to(const char *address, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        fail("%s is no IPv4 address", address);
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail("cannot connect to %s:%d: %s", address, port, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

/* ---- The load. ---- */

/* xorshift64: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8 (2003). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static void ask(struct connection *connection, uint32_t rows)
{
    /* The upper half of the product is even over 0..rows: no division. */
    set_id(connection, ((next_random(&connection->random) >> 32) * rows >> 32) + 1);
    connection->filled = 0;
    ssize_t sent = send(connection->socket, connection->request, connection->requested, MSG_NOSIGNAL);
    if (sent != (ssize_t)connection->requested)
        fail("cannot send: %s", strerror(errno));
}

/* Takes what has come; returns 1 when that completes an answer. The kernel reports each arrival
 * once only, so a full buffer would be an answer that is too long. */
static int receive(struct connection *connection)
{
    ssize_t got = recv(connection->socket, connection->answer + connection->filled,
                       ANSWER_MAX - connection->filled, 0);
    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0)
        fail("the server closed a connection");
    connection->filled += (unsigned)got;
    if (connection->filled == ANSWER_MAX)
        fail("an answer is longer than %d bytes", ANSWER_MAX);
    return is_whole(connection);
}

/* Loads until `end_ns`; returns how many answers came, and when the last did in `ended_ns`. */
static uint64_t load_until(int queue, uint32_t rows, uint64_t end_ns, uint64_t *ended_ns)
{
    struct epoll_event events[EVENTS];
    uint64_t answers = 0;
    do {
        int ready = epoll_wait(queue, events, EVENTS, 10000);
        if (ready < 0 && errno != EINTR)
            fail("epoll_wait: %s", strerror(errno));
        if (ready == 0)
            fail("no answer for ten seconds");
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (receive(connection)) {
                answers++;
                ask(connection, rows);
            }
        }
    } while ((*ended_ns = now_ns()) < end_ns);
    return answers;
}

static double cpu_us(struct timeval from, struct timeval to)
{
    return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_usec - from.tv_usec);
}

static void raise_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int count, char **arguments)
{
    if (count != 9)
        fail("usage: ADDRESS PORT USER DATABASE ROWS CONNECTIONS WARM_UP_S MEASURE_S");
    uint32_t rows = (uint32_t)strtoul(arguments[5], NULL, 10);
    size_t size = strtoul(arguments[6], NULL, 10);
    double warm_up_s = atof(arguments[7]), measure_s = atof(arguments[8]);
    struct connection *connections = calloc(size ? size : 1, sizeof *connections);
    int queue = epoll_create1(0);
    if (rows == 0 || size == 0 || connections == NULL || queue < 0)
        fail("ROWS and CONNECTIONS are 1 or more");

    raise_open_files();
    for (size_t i = 0; i < size; i++) {
        struct connection *connection = &connections[i];
        connection->socket = connect_to(arguments[1], atoi(arguments[2]));
        connection->random = 0x9e3779b97f4a7c15u * (i + 1);
        open_session(connection, arguments[3], arguments[4]);
        struct epoll_event interest = {.events = EPOLLIN | EPOLLET, .data.ptr = connection};
        if (epoll_ctl(queue, EPOLL_CTL_ADD, connection->socket, &interest) != 0)
            fail("epoll_ctl: %s", strerror(errno));
    }

    puts("ready");
    fflush(stdout);
    while (getchar() != '\n' && !feof(stdin))
        ;
    for (size_t i = 0; i < size; i++)
        ask(&connections[i], rows);

    struct rusage before, after;
    uint64_t begun_ns, ended_ns;
    load_until(queue, rows, now_ns() + (uint64_t)(warm_up_s * 1e9), &begun_ns);
    getrusage(RUSAGE_SELF, &before);
    uint64_t answers = load_until(queue, rows, begun_ns + (uint64_t)(measure_s * 1e9), &ended_ns);
    getrusage(RUSAGE_SELF, &after);

    double queries = answers ? (double)answers : 1;
    printf("connections %zu, queries/s %.0f, user us/query %.3f, system us/query %.3f\n", size,
           (double)answers * 1e9 / (double)(ended_ns - begun_ns),
           cpu_us(before.ru_utime, after.ru_utime) / queries,
           cpu_us(before.ru_stime, after.ru_stime) / queries);
    return 0;
}
