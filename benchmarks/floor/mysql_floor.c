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
#define FLOOR "mysql_floor"
#include "sql_floor.h"

enum {
    HEADER = 4, /* three bytes of length, one of sequence */
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

static unsigned payload_length(const unsigned char *header)
{
    return header[0] | (unsigned)header[1] << 8 | (unsigned)header[2] << 16;
}

/* ---- Conversations before the load: they may block. ---- */

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
    connection->requested = REQUEST;
    request[0] = REQUEST - HEADER;
    request[4] = COM_STMT_EXECUTE;
    memcpy(request + 5, &statement, 4);
    request[10] = 1;
}

static void open_session(struct connection *connection, const char *user, const char *database)
{
    log_in(connection->socket, user, database);
    execute_first(connection, prepare(connection->socket));
}

static void set_id(struct connection *connection, uint64_t id)
{
    memcpy(connection->request + REQUEST - 8, &id, 8);
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
