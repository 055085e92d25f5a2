/*
 * The floor under a client of the PostgreSQL protocol: prepared point selects and nothing else. It sends and receives
 * the same bytes as dyno does (Bind, Execute and Sync in one write, the id as a binary integer, the result as text), but
 * keeps no histogram, counts nothing for each client, knows no errors but the end, and draws its keys from the cheapest
 * generator there is. What dyno costs above it is what measuring costs.
 *
 *   postgres_floor ADDRESS PORT USER DATABASE ROWS CONNECTIONS WARM_UP_S MEASURE_S
 *
 * ADDRESS is an IPv4 address; USER logs in without a password; table pgbench_accounts has ROWS rows with ids from 1.
 * It connects and prepares, prints "ready", waits for a line on standard input (or its end), loads, and measures after
 * the warm-up.
 *
 * Build: cc -O2 -o postgres_floor postgres_floor.c
 *
 * Protocol: PostgreSQL's documentation, "Frontend/Backend Protocol", version 3.0.
 */
#define FLOOR "postgres_floor"
#include "sql_floor.h"

enum {
    HEADER = 5, /* the kind, and four bytes of length, which counts itself */
    VERSION = 196608,
    ID = 18, /* the place of the id in the request */
};

/* The request: Bind of the statement "s" with a binary integer of four bytes, Execute of all rows, Sync. */
static const unsigned char REQUEST[] = "B\0\0\0\x17\0s\0\0\x01\0\x01\0\x01\0\0\0\x04....\0\0"
                                       "E\0\0\0\x09\0\0\0\0\0"
                                       "S\0\0\0\x04";

static unsigned number(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return ntohl(value);
}

static void put_number(unsigned char *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, sizeof value);
}

static void send_bytes(int socket, const unsigned char *bytes, unsigned length)
{
    if (send(socket, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
        fail("cannot send: %s", strerror(errno));
}

/* Appends a text with the zero byte at its end. */
static unsigned append(unsigned char *message, unsigned at, const char *text)
{
    size_t length = strlen(text) + 1;
    if (at + length > 512)
        fail("user and database are too long");
    memcpy(message + at, text, length);
    return at + (unsigned)length;
}

/* Reads messages until the server is ready for the next request. */
static void until_ready(int socket)
{
    static unsigned char message[MESSAGE_MAX];
    unsigned char header[HEADER];
    do {
        receive_all(socket, header, sizeof header);
        unsigned length = number(header + 1) - 4;
        if (length >= MESSAGE_MAX)
            fail("a message of %u bytes is longer than any that is due", length);
        receive_all(socket, message, length);
        if (header[0] == 'E')
            fail("the server refuses: %.*s", (int)length, (const char *)message);
        if (header[0] == 'R' && number(message) != 0)
            fail("the login takes a password");
    } while (header[0] != 'Z');
}

static void open_session(struct connection *connection, const char *user, const char *database)
{
    unsigned char login[512];
    unsigned length = append(login, 8, "user");
    length = append(login, length, user);
    length = append(login, length, "database");
    length = append(login, length, database);
    login[length++] = 0;
    put_number(login, length);
    put_number(login + 4, VERSION);
    send_bytes(connection->socket, login, length);
    until_ready(connection->socket);

    unsigned char prepare[512] = {'P'};
    length = append(prepare, HEADER, "s");
    length = append(prepare, length, "SELECT abalance FROM pgbench_accounts WHERE aid = $1");
    prepare[length++] = 0; /* the server tells the type of the parameter */
    prepare[length++] = 0;
    put_number(prepare + 1, length - 1);
    memcpy(prepare + length, "S\0\0\0\x04", HEADER);
    send_bytes(connection->socket, prepare, length + HEADER);
    until_ready(connection->socket);

    connection->requested = sizeof REQUEST - 1;
    memcpy(connection->request, REQUEST, connection->requested);
}

static void set_id(struct connection *connection, uint64_t id)
{
    put_number(connection->request + ID, (uint32_t)id);
}

/* Whether what was received is a whole answer: messages by their heads, up to the one that says that it is ready. */
static int is_whole(const struct connection *connection)
{
    const unsigned char *at = connection->answer, *end = at + connection->filled;
    while (at + HEADER <= end) {
        unsigned char kind = at[0];
        if (kind == 'E')
            fail("the server refused a query");
        at += 1 + number(at + 1);
        if (kind == 'Z')
            return at <= end;
    }
    return 0;
}
