// The floor of an RPC load generator: one thread that waits, reads all answers of a connection, takes the time of each,
// and writes the next requests in one write.
//
//   rpc_floor_client PORT CONNECTIONS IN_FLIGHT SECONDS
//
// Requests are tRPC frames of 122 bytes (SayHello "hello"). Each answer is found by its id, checked, and its latency
// put into a histogram, as a load generator must.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 122, ANSWER = 27, HEAD = 16, DEPTH_MAX = 256, INPUT = 16384, EVENTS = 256, FIRST_ID = 16384 };

struct connection {
  int socket;
  size_t kept;
  uint64_t sent_at[DEPTH_MAX];
  unsigned char input[INPUT];
};

static unsigned char request[REQUEST], requests[DEPTH_MAX * REQUEST];
static uint64_t latencies[64 * 64], answered;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

// 64 buckets for each power of two, as in an HDR histogram.
static size_t bucket(uint64_t value) {
  if (value < 64) return value;
  int shift = 64 - __builtin_clzll(value) - 7;
  return (shift + 1) * 64 + (value >> shift) - 64;
}

static void make_request(void) {
  const char *caller = "trpc.client.dyno.caller", *callee = "trpc.test.helloworld.Greeter";
  const char *method = "/trpc.test.helloworld.Greeter/SayHello";
  unsigned char *at = request;
  memcpy(at, "\x09\x30\0\0\0\0\0\x7a\0\x63\0\0\0\0\x01\0\x18\0\0\0", 20);
  at += 20;
  *at++ = 0x2a, *at++ = strlen(caller), at = (unsigned char *)stpcpy((char *)at, caller);
  *at++ = 0x32, *at++ = strlen(callee), at = (unsigned char *)stpcpy((char *)at, callee);
  *at++ = 0x3a, *at++ = strlen(method), at = (unsigned char *)stpcpy((char *)at, method);
  memcpy(at, "\x0a\x05hello", 7);
}

static void put_request(unsigned char *to, uint32_t id) {
  uint32_t big = htonl(id);
  memcpy(to, request, REQUEST);
  memcpy(to + 10, &big, 4);
  to[17] = id | 0x80, to[18] = (id >> 7) | 0x80, to[19] = (id >> 14) & 0x7f;
}

static void send_all(struct connection *it, size_t length) {
  if (send(it->socket, requests, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

// Takes the answers that have come and sends as many requests; returns the time.
static uint64_t turn(struct connection *it, unsigned depth) {
  uint64_t time = now();
  size_t at = 0, out = 0;
  while (it->kept - at >= HEAD) {
    unsigned char *frame = it->input + at;
    uint32_t length, id;
    memcpy(&length, frame + 4, 4);
    memcpy(&id, frame + 10, 4);
    length = ntohl(length), id = ntohl(id);
    unsigned slot = id - FIRST_ID;
    if (frame[0] != 9 || frame[1] != 0x30 || length != ANSWER || slot >= depth) {
      fprintf(stderr, "a wrong answer\n");
      exit(1);
    }
    if (it->kept - at < length) break;
    latencies[bucket(time - it->sent_at[slot])]++;
    answered++;
    put_request(requests + out, id);
    at += length, out += REQUEST;
  }
  memmove(it->input, it->input + at, it->kept - at);
  it->kept -= at;
  if (!out) return time;
  time = now();
  for (size_t each = 0; each < out; each += REQUEST) {
    uint32_t id;
    memcpy(&id, requests + each + 10, 4);
    it->sent_at[ntohl(id) - FIRST_ID] = time;
  }
  send_all(it, out);
  return time;
}

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: rpc_floor_client PORT CONNECTIONS IN_FLIGHT SECONDS\n");
    return 2;
  }
  int connections = atoi(arguments[2]), one = 1;
  unsigned depth = atoi(arguments[3]);
  if (depth < 1 || depth > DEPTH_MAX) fail("in flight");
  make_request();
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int queue = epoll_create1(0);
  struct epoll_event events[EVENTS];
  struct connection **all = calloc(connections, sizeof *all);
  for (int i = 0; i < connections; i++) {
    struct connection *it = all[i] = calloc(1, sizeof *it);
    it->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(it->socket, (void *)&address, sizeof address)) fail("connect");
    setsockopt(it->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = it};
    if (epoll_ctl(queue, EPOLL_CTL_ADD, it->socket, &event)) fail("epoll_ctl");
  }
  uint64_t end = now() + (uint64_t)(atof(arguments[4]) * 1e9), time = 0;
  for (int i = 0; i < connections; i++) {
    for (unsigned slot = 0; slot < depth; slot++) {
      all[i]->sent_at[slot] = now();
      put_request(requests + slot * REQUEST, FIRST_ID + slot);
    }
    send_all(all[i], depth * REQUEST);
  }
  while (time < end) {
    int ready = epoll_wait(queue, events, EVENTS, 5000);
    if (ready <= 0) fail("no answer");
    for (int i = 0; i < ready; i++) {
      struct connection *it = events[i].data.ptr;
      ssize_t length = recv(it->socket, it->input + it->kept, INPUT - it->kept, MSG_DONTWAIT);
      if (length < 0 && errno == EAGAIN) continue;
      if (length <= 0) fail("recv");
      it->kept += length;
      time = turn(it, depth);
    }
  }
  printf("%lu answers\n", (unsigned long)answered);
}
