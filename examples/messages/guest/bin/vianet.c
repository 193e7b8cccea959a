/* build: -Wl,--section-start=.between=0x00c00000 */
// vianet MODE BYTES COUNT [PAUSE [HOST]]: sends COUNT messages of BYTES bytes each to HOST (10.0.0.1), in one of these
// modes:
//   udp         datagrams; the interface computes checksums if it can
//   udpc        the same with checksums by software: the interface's are switched off
//   udp-echo    the same as udp; the receiver sends each message back, and the call ends when it has come
//   udp-reply   is that receiver: COUNT times, a message comes and is sent back
//   raw         frames by a packet socket with a ring that it shares with the kernel (PACKET_TX_RING)
//   via         from registered memory by the module uvia, which copies them into its buffers
//   via-mapped  the same without the copy
//   via-nic     from registered memory by the queues of the network interface, without the kernel
//   via-nic-echo, via-nic-reply  the same there and back
//   via-nic-rate  the same one way, as many messages at a time as the queue takes; all are the same
// WARM messages go before, so that caches, buffers and the neighbour's address are there.  Markers 1 and 2 enclose the
// others, 4 and 5 the call that sends each.  A message is written anew before it is sent; then the program waits for
// PAUSE cycles, in which the network interface does its part.  Both are in a section of their own, .between, so that a
// profile can leave them out.  Where messages are not copied, a system call then waits until the interface has read it.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../modules/uvia/requests.h"
#include "marker.h"
#include "message_queues.h"

#define MOST         65000
#define WARM         16
#define PAUSE        150000
#define PORT_ECHO    7
#define PORT_DISCARD 9
#define FRAMES       64 // of the shared ring
#define FRAME        2048
#define BETWEEN      __attribute__((noinline, section(".between"), optimize("no-tree-loop-distribute-patterns")))

static uint32_t message[(MOST + 3) / 4] __attribute__((aligned(4096)));
static uint32_t length;
static const char *host; // the receiver; NULL: the station next to the host
static int file;         // socket, or /dev/uvia

static void check(int holds, const char *what) {
  if (holds) return;
  printf("vianet: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Word k of message n; the receiver knows it, too.
BETWEEN static void write_message(uint32_t n) {
  uint32_t value = n * 2654435761u;
  for (uint32_t k = 0; 4 * k < length; k++) message[k] = value += 0x9e3779b9u;
}

BETWEEN static uint32_t count_now(void) {
  uint32_t value;
  __asm__ volatile("rdhwr %0, $2" : "=r"(value)); // one for every two cycles
  return value;
}

BETWEEN static void wait_for(uint32_t cycles) {
  const uint32_t begin = count_now();
  while (count_now() - begin < cycles / 2) {
  }
}

// ---- Datagrams
static void connect_udp(uint16_t port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  file = socket(AF_INET, SOCK_DGRAM, 0);
  errno = EINVAL;
  check(inet_aton(host ? host : "10.0.0.1", &to.sin_addr), host);
  check(connect(file, (struct sockaddr *)&to, sizeof to) == 0, host ? host : "10.0.0.1");
}

static void open_udp(void) {
  connect_udp(PORT_DISCARD);
}

static void open_udp_echo(void) {
  connect_udp(PORT_ECHO);
}

static void open_udp_reply(void) {
  const struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT_ECHO)};
  file = socket(AF_INET, SOCK_DGRAM, 0);
  check(bind(file, (const struct sockaddr *)&own, sizeof own) == 0, "port 7");
}

static void open_udp_by_software(void) {
  struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
  struct ifreq request = {.ifr_name = "eth0", .ifr_data = (void *)&off};
  open_udp();
  check(ioctl(file, SIOCETHTOOL, &request) == 0, "checksums of eth0");
}

static void send_udp(uint32_t n) {
  (void)n;
  check(send(file, message, length, 0) == (ssize_t)length, "send");
}

static uint8_t received[(MOST + 4095) / 4096 * 4096] __attribute__((aligned(4096)));

static void send_and_receive_udp(uint32_t n) {
  send_udp(n);
  check(recv(file, received, sizeof received, 0) == (ssize_t)length, "recv");
}

static void reply_udp(uint32_t n) {
  struct sockaddr_in from;
  socklen_t size = sizeof from;
  (void)n;
  check(recvfrom(file, message, sizeof message, 0, (struct sockaddr *)&from, &size) == (ssize_t)length, "recvfrom");
  check(sendto(file, message, length, 0, (struct sockaddr *)&from, size) == (ssize_t)length, "sendto");
}

// What came back is what was sent.
BETWEEN static void compare(uint32_t n) {
  (void)n;
  errno = EIO;
  check(memcmp(received, message, length) == 0, "the message that came back");
}

// ---- Frames of a packet socket
static uint8_t *frames;
static struct ether_header link_header = {
    .ether_dhost = {2, 0, 0, 0, 0, 2}, .ether_shost = {2, 0, 0, 0, 0, 1}, .ether_type = UVIA_ETHERTYPE};

static void open_raw(void) {
  const int version = TPACKET_V2;
  struct tpacket_req ring = {
      .tp_block_size = FRAMES * FRAME / 8, .tp_block_nr = 8, .tp_frame_size = FRAME, .tp_frame_nr = FRAMES};
  struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("eth0")};
  link_header.ether_type = htons(UVIA_ETHERTYPE);
  file = socket(AF_PACKET, SOCK_RAW, 0);
  check(file >= 0, "packet socket");
  check(setsockopt(file, SOL_PACKET, PACKET_VERSION, &version, sizeof version) == 0, "PACKET_VERSION");
  check(setsockopt(file, SOL_PACKET, PACKET_TX_RING, &ring, sizeof ring) == 0, "PACKET_TX_RING");
  frames = mmap(NULL, FRAMES * FRAME, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  check(frames != MAP_FAILED, "mmap");
  check(bind(file, (struct sockaddr *)&to, sizeof to) == 0, "eth0");
}

static void send_raw(uint32_t n) {
  static uint32_t next;
  for (uint32_t at = 0, piece; at < length; at += piece, next++) {
    struct tpacket2_hdr *slot = (void *)(frames + next % FRAMES * FRAME);
    uint8_t *data = (uint8_t *)slot + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);
    struct uvia_header header;
    piece = length - at < UVIA_PIECE ? length - at : UVIA_PIECE;
    header = (struct uvia_header){htonl(n), htonl(length), htonl(at), htonl(piece)};
    while (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING)) {
    }
    errno = EINVAL;
    check(slot->tp_status == TP_STATUS_AVAILABLE, "a frame of the ring");
    memcpy(data, &link_header, sizeof link_header);
    memcpy(data + sizeof link_header, &header, sizeof header);
    memcpy(data + sizeof link_header + sizeof header, (const uint8_t *)message + at, piece);
    slot->tp_len = (uint32_t)(sizeof link_header + sizeof header) + piece;
    __atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
  }
  check(send(file, NULL, 0, MSG_DONTWAIT) >= 0, "send");
}

// ---- Registered memory
static volatile struct uvia_descriptor *queue;
static uint32_t buffer;

// The Ethernet address of the receiver, from the kernel's table, after a datagram to it.
static void set_peer(void) {
  struct arpreq known = {.arp_dev = "eth0"};
  const int path = file;
  connect_udp(PORT_DISCARD);
  send(file, "", 1, 0);
  inet_aton(host, &((struct sockaddr_in *)&known.arp_pa)->sin_addr);
  known.arp_pa.sa_family = AF_INET;
  for (int k = 0; k < 100 && (ioctl(file, SIOCGARP, &known) != 0 || !(known.arp_flags & ATF_COM)); k++) usleep(1000);
  errno = EHOSTUNREACH;
  check(known.arp_flags & ATF_COM, host);
  close(file);
  file = path;
  check(ioctl(file, UVIA_SET_PEER, known.arp_ha.sa_data) == 0, "the receiver");
}

static void open_path(enum uvia_path_number path) {
  struct uvia_region region = {(uint32_t)message, length};
  int number;
  file = open("/dev/uvia", O_RDWR);
  check(file >= 0, "/dev/uvia");
  if (host) set_peer();
  check(ioctl(file, UVIA_SET_PATH, path) == 0, "the path");
  number = ioctl(file, UVIA_REGISTER, &region);
  check(number >= 0, "registration");
  buffer = (uint32_t)number;
  queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  check(queue != MAP_FAILED, "mmap");
}

static void open_via(void) {
  open_path(UVIA_COPIED);
}

static void open_via_mapped(void) {
  open_path(UVIA_MAPPED);
}

// What VipPostSend does: a descriptor, and the doorbell.
static void post_send(uint32_t n) {
  volatile struct uvia_descriptor *descriptor = &queue[n % UVIA_ENTRIES];
  descriptor->buffer = buffer;
  descriptor->offset = 0;
  descriptor->length = length;
  descriptor->flags = 0;
  check(ioctl(file, UVIA_RING_BELL, n + 1) == 0, "the doorbell");
}

static void wait_until_done(uint32_t n) {
  check(ioctl(file, UVIA_WAIT) == 0 && queue[n % UVIA_ENTRIES].flags == UVIA_DONE, "the end of a message");
}

// ---- Queues of the network interface
static volatile uint32_t *window;
static volatile struct message_completions *completions;
static uint32_t receive_buffer;

static void *map(off_t at) {
  void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
  check(place != MAP_FAILED, "mmap");
  return place;
}

static void open_nic(void) {
  open_path(UVIA_NIC);
  window = map(UVIA_WINDOW);
  completions = map(UVIA_COMPLETIONS);
}

// Entry n of the queue at `place` in the program's page: four words of the interface's memory, and the doorbell.
static inline __attribute__((always_inline)) void post(uint32_t place, uint32_t memory, uint32_t mailbox, uint32_t n) {
  volatile uint32_t *entry = window + (MESSAGE_WINDOW + place + n % MESSAGE_ENTRIES * sizeof(struct message_entry)) / 4;
  entry[0] = memory;
  entry[1] = 0; // registered memory begins with a page
  entry[2] = length;
  entry[3] = 0;
  __sync_synchronize(); // what the processor has written is in memory before the interface reads it
  window[MESSAGE_DOORBELL(mailbox) / 4] = n + 1;
}

static void post_to_nic(uint32_t n) {
  post(offsetof(struct message_page, send), buffer, MESSAGE_SEND_MAILBOX, n);
}

// Until the interface has completed entry n.
static inline __attribute__((always_inline)) void complete(volatile struct message_completion *queued, uint32_t n) {
  volatile struct message_completion *entry = &queued[n % MESSAGE_ENTRIES];
  while (entry->done >> 8 != (n & 0xffffff) || !entry->done) {
  }
  errno = EIO;
  check((entry->done & 0xff) == MESSAGE_DONE && entry->length == length, "completion");
}

BETWEEN static void wait_for_nic(uint32_t n) {
  complete(completions->send, n);
}

// A message that comes must find its entry.
BETWEEN static void post_receive(uint32_t n) {
  post(offsetof(struct message_page, receive), receive_buffer, MESSAGE_RECEIVE_MAILBOX, n);
}

static void open_nic_both_ways(void) {
  struct uvia_region region = {(uint32_t)received, length};
  int number;
  open_nic();
  number = ioctl(file, UVIA_REGISTER, &region);
  check(number >= 0, "registration");
  receive_buffer = (uint32_t)number;
  post_receive(0);
}

static void send_and_receive(uint32_t n) {
  post_to_nic(n);
  complete(completions->receive, n);
}

BETWEEN static void compare_from_nic(uint32_t n) {
  wait_for_nic(n);
  compare(n);
  post_receive(n + 1);
}

// The entry for message n + 1 is there when it can come.
static void open_nic_reply(void) {
  open_nic_both_ways();
  post_receive(1);
}

static void reply_from_nic(uint32_t n) {
  complete(completions->receive, n);
  post(offsetof(struct message_page, send), receive_buffer, MESSAGE_SEND_MAILBOX, n);
  wait_for_nic(n);
  post_receive(n + 2);
}

static void keep_queue_full(uint32_t n) {
  if (n >= MESSAGE_ENTRIES) complete(completions->send, n - MESSAGE_ENTRIES);
  post_to_nic(n);
}

static const struct mode {
  const char *name;
  void (*open)(void);
  void (*send)(uint32_t n);
  void (*wait)(uint32_t n); // until the message may be changed; NULL: it was copied
  int replies;              // the other end sends the messages, and has the markers
} modes[] = {
    {"udp", open_udp, send_udp},
    {"udpc", open_udp_by_software, send_udp},
    {"udp-echo", open_udp_echo, send_and_receive_udp, compare},
    {"udp-reply", open_udp_reply, reply_udp, .replies = 1},
    {"raw", open_raw, send_raw},
    {"via", open_via, post_send},
    {"via-mapped", open_via_mapped, post_send, wait_until_done},
    {"via-nic", open_nic, post_to_nic, wait_for_nic},
    {"via-nic-echo", open_nic_both_ways, send_and_receive, compare_from_nic},
    {"via-nic-reply", open_nic_reply, reply_from_nic, .replies = 1},
    {"via-nic-rate", open_nic, keep_queue_full},
};

#define MODES (sizeof modes / sizeof *modes)

static uint32_t number(const char *text, uint32_t least, uint32_t most, const char *what) {
  char *end;
  const unsigned long value = strtoul(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && !*end && value >= least && value <= most) return (uint32_t)value;
  printf("vianet: %s is %u to %u, not '%s'\n", what, least, most, text);
  exit(2);
}

static void send_messages(const struct mode *mode, uint32_t count, uint32_t pause) {
  for (uint32_t n = 0; n < WARM + count; n++) {
    if (n == WARM) marker(1);
    if (mode->send != keep_queue_full || n == 0) write_message(n);
    marker(4);
    mode->send(n);
    marker(5);
    wait_for(pause);
    if (mode->wait) mode->wait(n);
  }
  if (completions) wait_for_nic(WARM + count - 1);
  marker(2);
}

static void print_usage(void) {
  fputs("usage: vianet ", stdout);
  for (unsigned k = 0; k < MODES; k++) printf("%s%s", k ? "|" : "", modes[k].name);
  puts(" BYTES COUNT [PAUSE [HOST]]");
}

int main(int argc, char **argv) {
  const struct mode *mode = NULL;
  uint32_t count, pause;
  for (unsigned k = 0; argc > 1 && k < MODES; k++)
    if (!strcmp(argv[1], modes[k].name)) mode = &modes[k];
  if (!mode || argc < 4 || argc > 6) {
    print_usage();
    return 2;
  }
  length = number(argv[2], 1, MOST, "BYTES");
  count = number(argv[3], 1, 1000000, "COUNT");
  pause = argc > 4 ? number(argv[4], 0, 1000000000, "PAUSE") : PAUSE;
  host = argc > 5 ? argv[5] : NULL;
  mode->open();
  if (!mode->replies) send_messages(mode, count, pause);
  for (uint32_t n = 0; mode->replies && n < WARM + count; n++) mode->send(n);
  puts("vianet: done");
  return 0;
}
