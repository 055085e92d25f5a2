/*
 * The floor under a client of the MySQL protocol: an epoll loop by hand, one thread, that does
 * prepared point selects and nothing else. It sends and receives the same bytes as dyno does (same
 * capabilities, same request), but keeps no histogram, counts nothing for each client, knows no
 * errors but the end, and draws its keys from the cheapest generator there is. What dyno costs above
 * it is what measuring costs.
 *
 *   mysql_floor ADDRESS PORT USER DATABASE ROWS CONNECTIONS WARM_UP_S MEASURE_S
 *
 * ADDRESS is an IPv4 address; USER has no password; table sbtest1 has ROWS rows with ids from 1.
 * It connects and prepares, prints "ready", waits for a line on standard input (or its end), loads,
 * and measures after the warm-up.
 *
 * Build: cc -O2 -o mysql_floor mysql_floor.c
 *
 * Protocol: the manual of MySQL, "Client/Server Protocol" (dev.mysql.com), and that of MariaDB.
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
    HEADER = 4, /* three bytes of length, one of sequence */
    EVENTS = 256,
    ANSWER_MAX = 4096,
    MESSAGE_MAX = 65536,

    COM_STMT_PREPARE = 0x16,
    COM_STMT_EXECUTE = 0x17,
    OK = 0x00,
    END = 0xfe, /* end of rows; in a login: change the method */
    ERROR = 0xff,
    TYPE_LONGLONG = 8,

    /* The request: header, command, statement, flags, iterations, NULL bits, "types follow", value. */
    REQUEST = HEADER + 1 + 4 + 1 + 4 + 1 + 1 + 8,
    REQUEST_TYPES = 2, /* only in the first request of a connection */
};

/* Long password, long flags, database in the login, protocol 4.1, transactions, secure connection,
 * multiple results (text and prepared), login plug-ins, no EOF packet after column definitions. */
static const uint32_t CAPABILITIES = 0x1 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x20000 | 0x40000
                                     | 0x80000 | 0x1000000;

struct connection {
    int socket;
    unsigned filled; /* bytes of the answer so far */
    uint64_t random;
    unsigned char request[REQUEST];
    unsigned char answer[ANSWER_MAX];
};

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("mysql_floor: ", stderr);
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

static unsigned payload_length(const unsigned char *header)
{
    return header[0] | (unsigned)header[1] << 8 | (unsigned)header[2] << 16;
}

/* ---- Conversations before the load: they may block. ---- */

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

/* Reads one message and returns its length; a zero byte follows it, so that texts end. */
static unsigned receive_message(int socket, unsigned char *message)
{
    unsigned char header[HEADER];
    receive_all(socket, header, sizeof header);
    unsigned length = payload_length(header);
    if (length >= MESSAGE_MAX)
        fail("a message of %u bytes is longer than any that is due", length);
    receive_all(socket, message, length);
    message[length] = 0;
    if (length > 9 && message[0] == ERROR)
        fail("the server says: %s", (const char *)message + 9);
    return length;
}

static void send_message(int socket, unsigned char sequence, const void *payload, unsigned length)
{
    unsigned char message[1024] = {(unsigned char)length, (unsigned char)(length >> 8), 0, sequence};
    if (length > sizeof message - HEADER)
        fail("a request of %u bytes is too long", length);
    memcpy(message + HEADER, payload, length);
    if (send(socket, message, HEADER + length, MSG_NOSIGNAL) != (ssize_t)(HEADER + length))
        fail("cannot send: %s", strerror(errno));
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

static void log_in(int socket, const char *user, const char *database)
{
    static unsigned char message[MESSAGE_MAX];
    receive_message(socket, message);
    if (message[0] != 10)
        fail("the greeting is not that of protocol 10");

    static const char method[] = "mysql_native_password";
    unsigned char login[512] = {0};
    if (strlen(user) + strlen(database) + sizeof method > sizeof login - 40)
        fail("user and database are too long");
    const uint32_t longest = 1u << 30;
    memcpy(login, &CAPABILITIES, 4);
    memcpy(login + 4, &longest, 4);
    login[8] = 45; /* utf8mb4_general_ci; 23 zero bytes follow */
    unsigned length = 32;
    length += (unsigned)strlen(strcpy((char *)login + length, user)) + 1;
    length += 1; /* the proof of no password is empty */
    length += (unsigned)strlen(strcpy((char *)login + length, database)) + 1;
    length += (unsigned)strlen(strcpy((char *)login + length, method)) + 1;
    send_message(socket, 1, login, length);

    receive_message(socket, message);
    if (message[0] == END) { /* another method: no password is an empty proof again */
        send_message(socket, 3, "", 0);
        receive_message(socket, message);
    }
    if (message[0] != OK)
        fail("the login needs more than an empty password");
}

static uint32_t prepare(int socket)
{
    static unsigned char message[MESSAGE_MAX];
    static const char sql[] = "\x16SELECT c FROM sbtest1 WHERE id=?";
    send_message(socket, 0, sql, sizeof sql - 1);
    receive_message(socket, message);
    uint32_t statement;
    memcpy(&statement, message + 1, sizeof statement);
    unsigned columns = message[5] | (unsigned)message[6] << 8;
    unsigned parameters = message[7] | (unsigned)message[8] << 8;
    if (message[0] != OK || columns != 1 || parameters != 1)
        fail("the server did not prepare the statement as expected");
    for (unsigned definition = 0; definition < columns + parameters; definition++)
        receive_message(socket, message);
    return statement;
}

/* The first execution tells the server the parameter's type; later ones need not. */
static void execute_first(struct connection *connection, uint32_t statement)
{
    unsigned char first[REQUEST - HEADER + REQUEST_TYPES] = {COM_STMT_EXECUTE};
    static unsigned char message[MESSAGE_MAX];
    memcpy(first + 1, &statement, 4);
    first[6] = 1;                /* one iteration */
    first[11] = 1;               /* types follow */
    first[12] = TYPE_LONGLONG;   /* signed: a zero byte follows */
    first[14] = 1;               /* id 1, eight bytes, little end first */
    send_message(connection->socket, 0, first, sizeof first);
    /* Columns, one definition, the row, the end. */
    receive_message(connection->socket, message);
    receive_message(connection->socket, message);
    while (receive_message(connection->socket, message), message[0] != END)
        ;

    unsigned char *request = connection->request;
    request[0] = REQUEST - HEADER;
    request[4] = COM_STMT_EXECUTE;
    memcpy(request + 5, &statement, 4);
    request[10] = 1;
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
    uint64_t id = ((next_random(&connection->random) >> 32) * rows >> 32) + 1;
    memcpy(connection->request + REQUEST - 8, &id, 8);
    connection->filled = 0;
    if (send(connection->socket, connection->request, REQUEST, MSG_NOSIGNAL) != REQUEST)
        fail("cannot send: %s", strerror(errno));
}

/* Whether what was received is a whole answer: columns, one definition, rows, the end. */
static int is_whole(const struct connection *connection)
{
    const unsigned char *at = connection->answer, *end = at + connection->filled;
    for (unsigned packet = 0; at + HEADER < end; packet++) {
        unsigned char first = at[HEADER];
        at += HEADER + payload_length(at);
        if (first == ERROR && (packet == 0 || packet >= 2))
            fail("the server refused a query");
        if (first == END && packet >= 2)
            return at <= end;
    }
    return 0;
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
        log_in(connection->socket, arguments[3], arguments[4]);
        execute_first(connection, prepare(connection->socket));
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
