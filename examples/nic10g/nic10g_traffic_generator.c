// nic10g_traffic_generator.c: traffic for the assists of the 10 Gb/s NIC without processors; see
// nic10g_traffic_generator.lss.
//
// Each state machine is written as a sequence of steps and resumes where it waited.  Its only operation is to transfer
// a run of words from or to the NIC, one in a cycle.
#include <string.h>

enum { GENERATOR_SENDS, GENERATOR_RECEIVES };
// Words of the setup block.
enum {
  SETUP_SEND_RING,
  SETUP_SEND_ENTRIES,
  SETUP_RECEIVE_RING,
  SETUP_RECEIVE_ENTRIES,
  SETUP_RETURN_RING,
  SETUP_RETURN_ENTRIES,
  SETUP_STATUS,
  SETUP_WORDS
};
// Registers.
enum {
  GENERATOR_REGISTERS = 0xc0000000u,
  REG_CORE_RUN = 0x3c,
  REG_SEND_PRODUCER = 0x40,
  REG_RECEIVE_PRODUCER = 0x44,
  REG_FETCH_ADD = 0xc0,
  REG_READ_ADD = 0xc4,
  REG_REPORT_ADD = 0xc8,
  REG_WRITE_ADD = 0xcc,
  REG_MAC_TX_ADD = 0xd0,
  REG_MAC_RX_ADD = 0xd4,
  REG_FETCH_DONE = 0xe0,
  REG_READ_DONE = 0xe4,
  REG_WRITE_DONE = 0xec,
  REG_MAC_TX_DONE = 0xf0,
  REG_MAC_RX_DONE = 0xf4,
  REG_MAC_RX_STATE = 0x120
};
// Addresses in the scratchpad: rings that the chip fixes, then what the traffic generator chooses.
enum {
  GENERATOR_MAC_TX = 0x36000,
  GENERATOR_MAC_RX = 0x37000,
  GENERATOR_FETCH = 0x38000,
  GENERATOR_READ = 0x3a000,
  GENERATOR_REPORT = 0x3c000,
  GENERATOR_WRITE = 0x3e000,
  GENERATOR_ENTRIES = 512,
  GENERATOR_SEND_DESCRIPTORS = 0x2000,
  GENERATOR_RECEIVE_DESCRIPTORS = 0x4000,
  GENERATOR_RETURNS = 0x8000,
  GENERATOR_REPORTS = 0x1000,
  GENERATOR_NOTIFICATIONS = 0x1800,
  GENERATOR_SLOTS = 0x80000000u
};
enum { GENERATOR_COMMIT = 0x20000, GENERATOR_SEND_END = 4, GENERATOR_WORDS = 512, GENERATOR_MOST = 500 };

// Waits until the condition holds.
#define GENERATOR_WAIT_AT(place, condition)                                                                            \
  do {                                                                                                                 \
    self->step[me] = (place);                                                                                          \
    __attribute__((fallthrough));                                                                                      \
  case (place):                                                                                                        \
    if (!(condition)) return;                                                                                          \
  } while (0)
#define GENERATOR_WAIT(condition) GENERATOR_WAIT_AT(1 + __COUNTER__, condition)
// Transfers `how_many` words between `words` and the NIC.
#define GENERATOR_TRANSFER(writes_them, from, how_many)                                                                \
  do {                                                                                                                 \
    self->writing[me] = (writes_them);                                                                                 \
    self->address[me] = (uint32_t)(from);                                                                              \
    self->count[me] = (uint32_t)(how_many);                                                                            \
    self->requested[me] = self->completed[me] = 0;                                                                     \
    GENERATOR_WAIT(self->completed[me] == self->count[me]);                                                            \
  } while (0)
#define GENERATOR_READ_WORDS(from, how_many) GENERATOR_TRANSFER(false, from, how_many)
#define GENERATOR_WRITE_WORDS(to, how_many)  GENERATOR_TRANSFER(true, to, how_many)
#define GENERATOR_SET_REGISTER(offset, value)                                                                          \
  do {                                                                                                                 \
    words[0] = (value);                                                                                                \
    GENERATOR_WRITE_WORDS(GENERATOR_REGISTERS + (uint32_t)(offset), 1);                                                \
  } while (0)
// Brings `how_many` 16-byte descriptors of a host ring into the scratchpad.
#define GENERATOR_FETCH(host, to, how_many)                                                                            \
  do {                                                                                                                 \
    self->fetch_from[me] = self->fetches++;                                                                            \
    words[0] = (host);                                                                                                 \
    words[1] = (uint32_t)(to);                                                                                         \
    words[2] = 16 * (how_many);                                                                                        \
    GENERATOR_WRITE_WORDS(GENERATOR_FETCH + 16 * (self->fetch_from[me] % GENERATOR_ENTRIES), 3);                       \
    GENERATOR_SET_REGISTER(REG_FETCH_ADD, 1);                                                                          \
    do GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_FETCH_DONE, 1);                                                  \
    while ((int32_t)(words[0] - self->fetch_from[me]) <= 0);                                                           \
  } while (0)

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// A DMA descriptor in 4 words.
static uint32_t *describe(uint32_t *words, uint32_t host, uint32_t nic, uint32_t control) {
  words[0] = host;
  words[1] = nic;
  words[2] = control;
  words[3] = 0;
  return words + 4;
}

// Turns send descriptors in `words`, two for each frame, into DMA reads, with the descriptors of the MAC behind them.
static void send_batch(self_t *self, uint32_t *words, uint32_t count) {
  uint32_t reads[4 * 128], mac[2 * 64];
  for (uint32_t i = 0; i < count; i += 2) {
    uint32_t slot = GENERATOR_SLOTS + 2048 * ((self->frames_queued + i / 2) % GENERATOR_ENTRIES);
    uint32_t first = words[4 * i + 2] >> 16, second = words[4 * i + 6] >> 16;
    if ((words[4 * i + 2] & GENERATOR_SEND_END) || !(words[4 * i + 6] & GENERATOR_SEND_END))
      sim_error("a frame to send has not two descriptors");
    describe(reads + 4 * i, words[4 * i + 1], slot, first);
    describe(reads + 4 * i + 4, words[4 * i + 5], slot + first, GENERATOR_COMMIT | second);
    mac[i] = slot;
    mac[i + 1] = first + second;
  }
  memcpy(words, reads, 16 * count);
  memcpy(words + 4 * count, mac, 4 * count);
}

// The entries of a ring of the host's, as its driver has set it up.
static uint32_t ring_entries(const self_t *self, int which) {
  if (self->setup[which] == 0) sim_error("the driver gave a ring of no entries");
  return self->setup[which];
}

// Turns MAC descriptors in `words`, with as many receive descriptors behind them, into DMA writes, with return entries
// behind.
static void receive_batch(uint32_t *words, uint32_t count) {
  uint32_t writes[4 * 64], returns[2 * 64];
  const uint32_t *receives = words + 2 * count;
  for (uint32_t i = 0; i < count; i++) {
    describe(writes + 4 * i, receives[4 * i + 1], words[2 * i], GENERATOR_COMMIT | (words[2 * i + 1] & 0xffff));
    returns[2 * i] = receives[4 * i + 3];
    returns[2 * i + 1] = words[2 * i + 1];
  }
  memcpy(words, writes, 16 * count);
  memcpy(words + 4 * count, returns, 8 * count);
}

static void run_send(self_t *self) {
  enum { me = GENERATOR_SENDS };
  uint32_t *words = self->words[me], room;
  switch (self->step[me]) {
  case 0:
    do GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_CORE_RUN, 1);
    while (words[0] == 0);
    GENERATOR_READ_WORDS(0, SETUP_WORDS);
    memcpy(self->setup, words, 4 * SETUP_WORDS);
    words[0] = 1; // the NIC is up
    GENERATOR_WRITE_WORDS(GENERATOR_REPORTS, 1);
    describe(words, self->setup[SETUP_STATUS] + 8, GENERATOR_REPORTS, 4);
    GENERATOR_WRITE_WORDS(GENERATOR_REPORT, 3);
    GENERATOR_SET_REGISTER(REG_REPORT_ADD, 1);
    self->reports = 1;
    GENERATOR_SET_REGISTER(REG_MAC_RX_STATE, 2);
    self->started = true;
    for (;;) {
      GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_READ_DONE, 1);
      self->reads_done = words[0];
      GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_MAC_TX_DONE, 1);
      self->frames_transmitted = words[0];
      if (self->reads_done - self->sends_reported >= 2 * (uint32_t)param(batch) ||
          (self->reads_done != self->sends_reported && self->reads_done == self->sends_taken)) {
        words[0] = self->reads_done;
        GENERATOR_WRITE_WORDS(GENERATOR_REPORTS + 4 * (self->reports % GENERATOR_ENTRIES), 1);
        describe(words, self->setup[SETUP_STATUS] + 4, GENERATOR_REPORTS + 4 * (self->reports % GENERATOR_ENTRIES), 4);
        GENERATOR_WRITE_WORDS(GENERATOR_REPORT + 16 * (self->reports % GENERATOR_ENTRIES), 3);
        GENERATOR_SET_REGISTER(REG_REPORT_ADD, 1);
        self->reports++;
        self->sends_reported = self->reads_done;
      }
      GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_SEND_PRODUCER, 1);
      self->sends_available = words[0] - self->sends_taken;
      room = least(GENERATOR_MOST - (self->sends_taken - self->reads_done),
                   GENERATOR_MOST - (self->frames_queued - self->frames_transmitted));
      self->batch_now[me] = least(least(self->sends_available, 2 * (uint32_t)param(batch)),
                                  least(room & ~1u, GENERATOR_ENTRIES - self->sends_taken % GENERATOR_ENTRIES));
      if (self->batch_now[me] == 0) continue;
      GENERATOR_FETCH(self->setup[SETUP_SEND_RING] + 16 * (self->sends_taken % ring_entries(self, SETUP_SEND_ENTRIES)),
                      GENERATOR_SEND_DESCRIPTORS, self->batch_now[me]);
      GENERATOR_READ_WORDS(GENERATOR_SEND_DESCRIPTORS, 4 * self->batch_now[me]);
      send_batch(self, words, self->batch_now[me]);
      GENERATOR_WRITE_WORDS(GENERATOR_READ + 16 * (self->sends_taken % GENERATOR_ENTRIES), 4 * self->batch_now[me]);
      memmove(words, words + 4 * self->batch_now[me], 4 * self->batch_now[me]);
      GENERATOR_WRITE_WORDS(GENERATOR_MAC_TX + 8 * (self->frames_queued % GENERATOR_ENTRIES), self->batch_now[me]);
      GENERATOR_SET_REGISTER(REG_READ_ADD, self->batch_now[me]);
      GENERATOR_SET_REGISTER(REG_MAC_TX_ADD, self->batch_now[me] / 2);
      self->sends_taken += self->batch_now[me];
      self->frames_queued += self->batch_now[me] / 2;
      count(frames_sent, self->batch_now[me] / 2);
    }
  default: sim_error("the send state machine is in an unknown step");
  }
}

static void run_receive(self_t *self) {
  enum { me = GENERATOR_RECEIVES };
  uint32_t *words = self->words[me];
  switch (self->step[me]) {
  case 0:
    GENERATOR_WAIT(self->started);
    for (;;) {
      // Receive descriptors, whenever a batch of them has been used.
      if (self->receives_fetched - self->forwarded < GENERATOR_ENTRIES - 2 * (uint32_t)param(batch)) {
        GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_RECEIVE_PRODUCER, 1);
        self->batch_now[me] =
            least(words[0] - self->receives_fetched,
                  least(2 * (uint32_t)param(batch), GENERATOR_ENTRIES - self->receives_fetched % GENERATOR_ENTRIES));
        if (self->batch_now[me]) {
          GENERATOR_FETCH(self->setup[SETUP_RECEIVE_RING] +
                              16 * (self->receives_fetched % ring_entries(self, SETUP_RECEIVE_ENTRIES)),
                          GENERATOR_RECEIVE_DESCRIPTORS + 16 * (self->receives_fetched % GENERATOR_ENTRIES),
                          self->batch_now[me]);
          self->receives_fetched += self->batch_now[me];
        }
      }
      GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_WRITE_DONE, 1);
      self->writes_done = words[0];
      GENERATOR_READ_WORDS(GENERATOR_REGISTERS + REG_MAC_RX_DONE, 1);
      self->received = words[0];
      self->batch_now[me] = least(
          least(self->received - self->forwarded, (uint32_t)param(batch)),
          least(self->receives_fetched - self->forwarded, GENERATOR_ENTRIES - self->forwarded % GENERATOR_ENTRIES));
      if (self->writes - self->writes_done > GENERATOR_MOST - 64 - 2 || self->batch_now[me] == 0) continue;
      self->batch_now[me] = least(self->batch_now[me], GENERATOR_ENTRIES - self->writes % GENERATOR_ENTRIES);
      GENERATOR_READ_WORDS(GENERATOR_MAC_RX + 8 * (self->forwarded % GENERATOR_ENTRIES), 2 * self->batch_now[me]);
      if (self->batch_now[me] > 64) sim_error("%u frames are forwarded together", self->batch_now[me]);
      memcpy(self->receive_words, words, 8 * self->batch_now[me]);
      GENERATOR_READ_WORDS(GENERATOR_RECEIVE_DESCRIPTORS + 16 * (self->forwarded % GENERATOR_ENTRIES),
                           4 * self->batch_now[me]);
      memmove(words + 2 * self->batch_now[me], words, 16 * self->batch_now[me]);
      memcpy(words, self->receive_words, 8 * self->batch_now[me]);
      if (self->batch_now[me] > 64) sim_error("%u frames are forwarded together", self->batch_now[me]);
      receive_batch(words, self->batch_now[me]);
      GENERATOR_WRITE_WORDS(GENERATOR_WRITE + 16 * (self->writes % GENERATOR_ENTRIES), 4 * self->batch_now[me]);
      memmove(words, words + 4 * self->batch_now[me], 8 * self->batch_now[me]);
      GENERATOR_WRITE_WORDS(GENERATOR_RETURNS + 8 * (self->forwarded % GENERATOR_ENTRIES), 2 * self->batch_now[me]);
      self->writes += self->batch_now[me];
      describe(words, self->setup[SETUP_RETURN_RING] + 8 * (self->forwarded % ring_entries(self, SETUP_RETURN_ENTRIES)),
               GENERATOR_RETURNS + 8 * (self->forwarded % GENERATOR_ENTRIES), 8 * self->batch_now[me]);
      GENERATOR_WRITE_WORDS(GENERATOR_WRITE + 16 * (self->writes % GENERATOR_ENTRIES), 3);
      self->writes++;
      words[0] = self->forwarded + self->batch_now[me];
      GENERATOR_WRITE_WORDS(GENERATOR_NOTIFICATIONS + 4 * (self->notifications % GENERATOR_ENTRIES), 1);
      describe(words, self->setup[SETUP_STATUS],
               GENERATOR_NOTIFICATIONS + 4 * (self->notifications % GENERATOR_ENTRIES), 4);
      GENERATOR_WRITE_WORDS(GENERATOR_WRITE + 16 * (self->writes % GENERATOR_ENTRIES), 3);
      self->writes++;
      self->notifications++;
      GENERATOR_SET_REGISTER(REG_WRITE_ADD, self->batch_now[me] + 2);
      GENERATOR_SET_REGISTER(REG_MAC_RX_ADD, self->batch_now[me]);
      self->forwarded += self->batch_now[me];
      count(frames_received, self->batch_now[me]);
    }
  default: sim_error("the receive state machine is in an unknown step");
  }
}

phase_start() {
  for (int me = 0; me < 2; me++) {
    accept(nic_reply, me, true);
    typeof_port(nic_request) request = {.op = self->writing[me] ? mem_op_write : mem_op_read,
                                        .size = 4,
                                        .address = self->address[me] + 4 * self->requested[me]};
    if (self->writing[me] && self->requested[me] < self->count[me]) request.data = self->words[me][self->requested[me]];
    send_if(nic_request, me, self->requested[me] < self->count[me], request);
  }
}

phase_end() {
  for (int me = 0; me < 2; me++) {
    if (transferred(nic_request, me)) {
      self->requested[me]++;
      count(requests);
    }
    if (!transferred(nic_reply, me)) continue;
    if (data(nic_reply, me).error) sim_error("the NIC replies to a request near 0x%x with an error", self->address[me]);
    if (self->completed[me] >= self->count[me]) sim_error("the NIC replies to more requests than it got");
    if (!self->writing[me]) self->words[me][self->completed[me]] = data(nic_reply, me).data;
    self->completed[me]++;
  }
  if (self->completed[GENERATOR_SENDS] == self->count[GENERATOR_SENDS]) run_send(self);
  if (self->completed[GENERATOR_RECEIVES] == self->count[GENERATOR_RECEIVES]) run_receive(self);
}

next_event() {
  return cycle();
}
