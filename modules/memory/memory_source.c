// memory_source.c: plays memory requests; see memory_source.lss.
#include <ctype.h>
#include <string.h>

#include "lss/runtime/text/number.h"

// True with probability p.
static bool draw(uint64_t *rng, double p) {
  if (p >= 1.0) return true;
  return (double)(random_bits(rng) >> 11) * 0x1.0p-53 < p;
}

static mem_op op_of(self_t *self, const char *word) {
  static const char *const names[] = {"read",      "write",    "swap",        "fetch_add",
                                      "fetch_and", "fetch_or", "load_linked", "store_conditional",
                                      "take_run",  "barrier",  "maintain"};
  for (int k = 0; k < (int)(sizeof names / sizeof names[0]); k++)
    if (strcmp(word, names[k]) == 0) return (mem_op)k;
  sim_input_error("%s:%llu: '%s' is not an operation (read, write, swap, fetch_add, fetch_and, fetch_or, load_linked, "
                  "store_conditional, take_run, barrier, maintain)",
                  param(script), (unsigned long long)self->line, word);
}

// Hexadecimal text of any length (with 0x), or a number, into the low bytes of a value; false: it does not fit there.
static bool parse_wide(const char *text, void *value, size_t size) {
  memset(value, 0, size);
  if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || text[2] == '\0') {
    uint64_t number;
    if (!number_parse(text, size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX, &number)) return false;
    memcpy(value, &number, size < 8 ? size : 8);
    return true;
  }
  const char *digits = text + 2 + strspn(text + 2, "0");
  const size_t length = strlen(digits);
  if (length > 2 * size) return false;
  uint8_t *bytes = value;
  for (size_t k = 0; k < length; k++) {
    const char c = digits[length - 1 - k];
    if (!isxdigit((unsigned char)c)) return false;
    const unsigned digit =
        isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
    bytes[k / 2] |= (uint8_t)(digit << (4 * (k % 2)));
  }
  return true;
}

// A number of the script's line, from 0 to `limit`.
static uint64_t number_of(self_t *self, const char *word, const char *what, uint64_t limit) {
  uint64_t number;
  if (!number_parse(word, limit, &number))
    sim_input_error("%s:%llu: '%s' is not %s: a number from 0 to 0x%llx", param(script), (unsigned long long)self->line,
                    word, what, (unsigned long long)limit);
  return number;
}

// The words of the next line of the script that says something, at most `most`; 0 at its end.
static int next_words(self_t *self, char *line, size_t size, char **words, int most) {
  int count = 0;
  while (count == 0 && stream_line(&self->file, line, size)) {
    self->line++;
    line[strcspn(line, "#")] = '\0';
    for (char *rest, *word = strtok_r(line, " \t\r", &rest); word && count < most;
         word = strtok_r(NULL, " \t\r", &rest))
      words[count++] = word;
  }
  return count;
}

static void next_from_script(self_t *self) {
  enum { CYCLE, OP, SIZE, ADDRESS, DATA, TAG, MOST };
  char line[4096], *words[MOST + 1];
  const int count = next_words(self, line, sizeof line, words, MOST + 1);
  self->have = count > 0;
  if (!self->have) return;
  if (count <= ADDRESS || count > MOST)
    sim_input_error("%s:%llu: a request is CYCLE OP SIZE ADDRESS [DATA [TAG]]", param(script),
                    (unsigned long long)self->line);
  memset(&self->next, 0, sizeof self->next);
  const uint64_t due = number_of(self, words[CYCLE], "a cycle", UINT64_MAX);
  self->next.op = op_of(self, words[OP]);
  self->next.sign = words[SIZE][0] == '-';
  uint64_t size;
  if (!number_parse(words[SIZE] + self->next.sign, (uint64_t)param(width) / 8, &size) || size < 1)
    sim_input_error("%s:%llu: '%s' is not a size: 1 to %d bytes, then comes the address", param(script),
                    (unsigned long long)self->line, words[SIZE], (int)(param(width) / 8));
  self->next.size = (uint8_t)size;
  self->next.address = (uint32_t)number_of(self, words[ADDRESS], "an address", UINT32_MAX);
  if (count > DATA && !parse_wide(words[DATA], &self->next.data, (size_t)param(width) / 8))
    sim_input_error("%s:%llu: '%s' is not a number that fits in %d bytes", param(script),
                    (unsigned long long)self->line, words[DATA], (int)(param(width) / 8));
  if (count > TAG) self->next.tag = (uint32_t)number_of(self, words[TAG], "a tag", UINT32_MAX);
  if (due < self->due)
    sim_input_error("%s:%llu: cycle %llu after cycle %llu: a script is in rising order", param(script),
                    (unsigned long long)self->line, (unsigned long long)due, (unsigned long long)self->due);
  self->due = due;
}

static void next_request(self_t *self, uint64_t earliest) {
  if (param(script)[0] != '\0') {
    next_from_script(self);
    return;
  }
  self->have = param(count) < 0 || self->made < (uint64_t)param(count);
  if (self->have) {
    uint64_t random = random_bits(&self->rng);
    self->next = call(generate, self->made, random);
    self->due = earliest;
    self->made++;
  }
}

static void draw_offer(self_t *self, uint64_t when) {
  bool due = self->have && when >= self->due && self->in_flight < (uint32_t)param(outstanding);
  self->offering = due && draw(&self->rng, param(offer));
  self->cancelling = self->offering && param(cancel) > 0 && draw(&self->rng, param(cancel));
}

check_state() {
  if (self->have && self->next.size == 0) sim_error("the next request is of no bytes");
}

init() {
  random_seed(&self->rng);
  if (param(script)[0] != '\0') stream_read_open(&self->file, param(script));
  if (param(record)[0] != '\0') stream_write_open(&self->recording, param(record));
  next_request(self, 0);
  draw_offer(self, 0);
}

handler(reset, count) {
  if (param(script)[0]) return;
  const uint64_t count = param(count) < 0 ? UINT64_MAX : (uint64_t)param(count);
  if (self->have && self->made > count) {
    self->have = false;
    self->made--;
  } else if (!self->have && self->made < count) {
    next_request(self, cycle());
  }
  draw_offer(self, cycle());
}
handler(reset, outstanding) {
  draw_offer(self, cycle());
}
handler(reset, offer) {
  draw_offer(self, cycle());
}
handler(reset, cancel) {
  draw_offer(self, cycle());
}

phase_start() {
  if (self->offering)
    send(memory_request, self->next);
  else
    send_nothing(memory_request);
}

handler(commit) {
  enable(memory_request, acked(memory_request) && !self->cancelling);
}

phase_end() {
  if (transferred(memory_request)) {
    count(requests);
    self->in_flight++;
    next_request(self, cycle() + (uint64_t)param(interval));
  }
  if (transferred(memory_reply)) {
    if (self->in_flight == 0)
      sim_error("a reply with tag 0x%x came without a request", (unsigned)data(memory_reply).tag);
    self->in_flight--;
    count(replies);
    count(errors, data(memory_reply).error);
    report(last, cycle());
    event(replied, data(memory_reply).tag);
    sim_progress();
    if (param(record)[0] != '\0') {
      char digits[2 * sizeof data(memory_reply).data + 1];
      const uint8_t *bytes = (const uint8_t *)&data(memory_reply).data;
      for (size_t k = 0; k < sizeof data(memory_reply).data; k++)
        snprintf(digits + 2 * k, 3, "%02x", bytes[sizeof data(memory_reply).data - 1 - k]);
      stream_printf(&self->recording, "%llu %u %d 0x%s\n", (unsigned long long)cycle(),
                    (unsigned)data(memory_reply).tag, data(memory_reply).error, digits);
    }
  }
  count(latency, self->in_flight);
  draw_offer(self, cycle() + 1);
}

next_event() {
  if (self->in_flight > 0) return cycle();
  if (!self->have) return never();
  // The offer of a cycle is drawn at the end of the one before.
  return self->due > cycle() + 1 ? self->due - 1 : cycle();
}
