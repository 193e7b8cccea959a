/* memory_source.c: plays memory references; see memory_source.lss. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* True with probability p. */
static bool draw(uint64_t *rng, double p) {
  if (p >= 1.0) return true;
  if (p <= 0.0) return false;
  return (double)(random_bits(rng) >> 11) * 0x1.0p-53 < p;
}

static mem_op op_of(self_t *self, const char *word) {
  static const char *const names[] = {"read",      "write",    "swap",        "fetch_add",
                                      "fetch_and", "fetch_or", "load_linked", "store_conditional", "take_run"};
  for (int k = 0; k < 9; k++)
    if (strcmp(word, names[k]) == 0) return (mem_op)k;
  sim_input_error("%s:%llu: '%s' is not an operation (read, write, swap, fetch_add, fetch_and, fetch_or, load_linked, "
                  "store_conditional, take_run)",
                  param(script), (unsigned long long)self->line, word);
}

/* Hexadecimal text of any length (with 0x), or a number, into the bytes of a value. */
static bool parse_wide(const char *text, void *value, size_t size) {
  memset(value, 0, size);
  size_t digits = strlen(text);
  if (digits > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    uint8_t *bytes = value;
    for (size_t k = 0; k < digits - 2; k++) {
      char c = text[digits - 1 - k];
      if (!isxdigit((unsigned char)c) || k / 2 >= size) return false;
      unsigned digit =
          isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
      bytes[k / 2] |= (uint8_t)(digit << (4 * (k % 2)));
    }
    return true;
  }
  char *end;
  uint64_t number = strtoull(text, &end, 10);
  memcpy(value, &number, size < 8 ? size : 8);
  return *text != '\0' && *end == '\0';
}

static void next_from_script(self_t *self) {
  char line[4096];
  self->have = false;
  while (stream_line(&self->file, line, sizeof line)) {
    self->line++;
    line[strcspn(line, "#")] = '\0';
    char *words[7];
    int count = 0;
    for (char *word = strtok(line, " \t\r"); word && count < 7; word = strtok(NULL, " \t\r")) words[count++] = word;
    if (count == 0) continue;
    if (count < 4 || count > 6)
      sim_input_error("%s:%llu: a reference is CYCLE OP SIZE ADDRESS [DATA [TAG]]", param(script),
                      (unsigned long long)self->line);
    memset(&self->next, 0, sizeof self->next);
    uint64_t due = strtoull(words[0], NULL, 0);
    self->next.op = op_of(self, words[1]);
    self->next.sign = words[2][0] == '-';
    self->next.size = (uint8_t)strtoul(words[2] + self->next.sign, NULL, 0);
    self->next.address = (uint32_t)strtoul(words[3], NULL, 0);
    uint64_t size = strtoull(words[2] + self->next.sign, NULL, 0);
    if (size < 1 || size > 255)
      sim_input_error("%s:%llu: '%s' is not a size: 1 to %d bytes, then comes the address", param(script),
                      (unsigned long long)self->line, words[2], (int)(param(width) / 8));
    if (count > 4 && !parse_wide(words[4], &self->next.data, sizeof self->next.data))
      sim_input_error("%s:%llu: '%s' is not a number that fits", param(script), (unsigned long long)self->line,
                      words[4]);
    if (count > 5) self->next.tag = (uint32_t)strtoul(words[5], NULL, 0);
    if (due < self->due)
      sim_input_error("%s:%llu: cycle %llu after cycle %llu: a script is in rising order", param(script),
                      (unsigned long long)self->line, (unsigned long long)due, (unsigned long long)self->due);
    self->due = due;
    self->have = true;
    return;
  }
}

static void next_reference(self_t *self, uint64_t earliest) {
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
  bool due = self->have && when >= self->due && self->owed < (uint32_t)param(outstanding);
  self->offering = due && draw(&self->rng, param(offer));
  self->cancelling = self->offering && param(cancel) > 0 && draw(&self->rng, param(cancel));
}

init() {
  random_seed(&self->rng);
  if (param(outstanding) < 1)
    sim_input_error("outstanding is %lld: at least one reference must be allowed", (long long)param(outstanding));
  if (param(script)[0] != '\0') stream_read_open(&self->file, param(script));
  if (param(record)[0] != '\0') stream_write_open(&self->answers, param(record));
  next_reference(self, 0);
  draw_offer(self, 0);
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
    self->references++;
    self->owed++;
    next_reference(self, cycle() + (uint64_t)param(interval));
  }
  if (transferred(memory_reply)) {
    if (self->owed == 0) sim_error("an answer with tag 0x%x came without a request", (unsigned)data(memory_reply).tag);
    self->owed--;
    self->replies++;
    self->errors += data(memory_reply).error;
    self->last = cycle();
    event(answered, data(memory_reply).tag);
    sim_progress();
    if (param(record)[0] != '\0') {
      char digits[2 * sizeof data(memory_reply).data + 1];
      const uint8_t *bytes = (const uint8_t *)&data(memory_reply).data;
      for (size_t k = 0; k < sizeof data(memory_reply).data; k++)
        snprintf(digits + 2 * k, 3, "%02x", bytes[sizeof data(memory_reply).data - 1 - k]);
      stream_printf(&self->answers, "%llu %u %d 0x%s\n", (unsigned long long)cycle(), (unsigned)data(memory_reply).tag,
                    data(memory_reply).error, digits);
    }
  }
  self->latency += self->owed;
  draw_offer(self, cycle() + 1);
}

next_event() {
  if (self->owed > 0) return cycle();
  if (!self->have) return never();
  /* The offer of a cycle is drawn at the end of the one before. */
  return self->due > cycle() + 1 ? self->due - 1 : cycle();
}
