// The floor of an RPC server: one thread that waits, reads, and answers every request of a read in one write.
//
//   rpc_floor_server PORT COUNTER_FILE
//
// Frames are those of tRPC: 16 bytes of head with the length at 4 and the id at 10. Each is answered by 27 bytes: the
// same id and the text "hello". The number of requests so far stands in the first eight bytes of COUNTER_FILE, which
// is mapped into memory, so that whoever measures can read it without a system call of this program.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAD = 16, ANSWER = 27, INPUT = 65536, EVENTS = 256 };

struct connection {
  int socket;
  size_t kept;
  unsigned char input[INPUT];
};

static unsigned char answers[INPUT / HEAD * ANSWER];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void accept_all(int listener, int queue) {
  int one = 1, socket;
  while ((socket = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *connection = malloc(sizeof *connection);
    if (!connection) fail("malloc");
    connection->socket = socket;
    connection->kept = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(queue, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
  }
}

// Answers all whole frames; returns their number, or -1 for what is no frame.
static long answer(struct connection *it) {
  static const unsigned char body[] = "\x18\x80\x80\x00\x0a\x05hello";
  size_t at = 0, out = 0;
  long frames = 0;
  while (it->kept - at >= HEAD) {
    unsigned char *frame = it->input + at, *to = answers + out;
    uint32_t length, id;
    memcpy(&length, frame + 4, 4);
    length = ntohl(length);
    if (frame[0] != 9 || frame[1] != 0x30 || length < HEAD || length > INPUT) return -1;
    if (it->kept - at < length) break;
    memcpy(to, "\x09\x30\0\0\0\0\0\x1b\0\x04\0\0\0\0\x01\0", HEAD);
    memcpy(to + 10, frame + 10, 4);
    memcpy(to + HEAD, body, sizeof body - 1);
    memcpy(&id, frame + 10, 4);
    id = ntohl(id);
    to[17] = id | 0x80, to[18] = (id >> 7) | 0x80, to[19] = (id >> 14) & 0x7f;
    at += length, out += ANSWER, frames++;
  }
  memmove(it->input, it->input + at, it->kept - at);
  it->kept -= at;
  if (out && send(it->socket, answers, out, MSG_NOSIGNAL) != (ssize_t)out) return -1;
  return frames;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: rpc_floor_server PORT COUNTER_FILE\n");
    return 2;
  }
  int file = open(arguments[2], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(uint64_t))) fail(arguments[2]);
  volatile uint64_t *counter = mmap(0, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counter == MAP_FAILED) fail("mmap");
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (void *)&address, sizeof address) || listen(listener, 4096)) fail("listen");
  int queue = epoll_create1(0);
  struct epoll_event events[EVENTS], event = {.events = EPOLLIN, .data.ptr = 0};
  if (queue < 0 || epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event)) fail("epoll");
  for (;;) {
    int ready = epoll_wait(queue, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      struct connection *it = events[i].data.ptr;
      if (!it) {
        accept_all(listener, queue);
        continue;
      }
      ssize_t length = recv(it->socket, it->input + it->kept, INPUT - it->kept, 0);
      if (length < 0 && errno == EAGAIN) continue;
      long frames = -1;
      if (length > 0) {
        it->kept += length;
        frames = answer(it);
      }
      if (frames < 0) {
        close(it->socket);
        free(it);
      } else {
        *counter += frames;
      }
    }
  }
}
