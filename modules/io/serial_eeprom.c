// serial_eeprom.c: a memory on two lines; see serial_eeprom.lss.
#include <ctype.h>
#include <string.h>

#include "clock/device_time.h"
#include "lss/runtime/text/number.h"

#define SIZE ((uint32_t)param(size))
#define PAGE ((uint32_t)param(page))

// ---- Contents at the start ----
static void load_image(self_t *self) {
  if (param(image)[0] == '\0') return;
  stream file = {0};
  size_t size;
  stream_read_open(&file, param(image));
  const uint8_t *bytes = stream_contents(&file, &size);
  if (size > SIZE) sim_input_error("%s: %zu bytes do not fit into %u", param(image), size, SIZE);
  memcpy(store_span(bytes, 0, size), bytes, size);
}

// The value of a hexadecimal digit, -1: it is none.
static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

static void load_contents(self_t *self) {
  for (const char *at = param(contents); *at;) {
    const char *const run = at;
    uint64_t place;
    bool fine = number_take_count(&at, SIZE, &place) && *at == '=' && digit(at[1]) >= 0;
    for (at += *at == '='; fine && digit(at[0]) >= 0; at += 2) {
      fine = digit(at[1]) >= 0 && place < SIZE;
      if (fine) store(bytes, place++, (uint8_t)(digit(at[0]) << 4 | digit(at[1])));
    }
    if (!fine || (*at && *at != ',') || (*at && !at[1]))
      sim_input_error("contents: '%s' does not begin with an address below %u, '=' and bytes in hexadecimal", run,
                      SIZE);
    if (*at) at++;
  }
}

init() {
  memset(store_span(bytes, 0, SIZE), 0xff, SIZE);
  load_image(self);
  load_contents(self);
}

// ---- Bytes ----
static void begin_to_send(self_t *self) {
  self->shift = load(bytes, self->place);
  count(read_bytes);
  event(read, self->place, self->shift);
  self->place = (self->place + 1) % SIZE;
  self->low = !(self->shift & 0x80);
}

// Whether a byte that selects a device means this one, and what follows it.
static bool selected(self_t *self) {
  if (self->shift >> 1 != (0xa << 3 | param(address))) return false;
  if (until(stored)) {
    count(refusals);
    return false;
  }
  self->phase = self->shift & 1 ? eeprom_phase_read : eeprom_phase_high;
  return true;
}

// The eighth bit of a byte is over: whether the device acknowledges it.
static bool take_byte(self_t *self) {
  switch (self->phase) {
  case eeprom_phase_select: return selected(self);
  case eeprom_phase_high:
    self->place = ((uint32_t)self->shift << 8) % SIZE;
    self->phase = eeprom_phase_low;
    return true;
  case eeprom_phase_low:
    self->place |= self->shift;
    self->phase = eeprom_phase_write;
    return true;
  case eeprom_phase_write:
    self->latch[self->place % PAGE] = self->shift;
    self->latched++;
    self->place = self->place / PAGE * PAGE + (self->place + 1) % PAGE;
    return true;
  default: return false;
  }
}

// Stores what was latched: all of a page if as much came.
static void begin_write_cycle(self_t *self) {
  const uint32_t bytes = self->latched < PAGE ? self->latched : PAGE, base = self->place / PAGE * PAGE;
  for (uint32_t k = 0; k < bytes; k++) {
    const uint32_t place = base + (self->place - bytes + k) % PAGE;
    store(bytes, place, self->latch[place % PAGE]);
    event(written, place, self->latch[place % PAGE]);
  }
  count(written_bytes, bytes);
  count(write_cycles);
  set_until(stored, device_cycles((uint64_t)param(write_cycle), 1000000000000000u, ticks_per_second(), clock_period()));
}

// ---- Lines ----
static void start(self_t *self) {
  self->phase = eeprom_phase_select;
  self->clocks = 0;
  self->latched = 0;
  self->low = false;
}

static void stop(self_t *self) {
  // The clock of the stop itself is the first behind a whole byte.
  if (self->phase == eeprom_phase_write && self->latched && self->clocks == 1) begin_write_cycle(self);
  self->phase = eeprom_phase_standby;
  self->low = false;
}

static void rise(self_t *self, bool data) {
  self->clocks++;
  if (self->clocks == 9)
    self->wanted = !data;
  else if (self->phase != eeprom_phase_read)
    self->shift = (uint8_t)(self->shift << 1 | data);
}

static void fall(self_t *self) {
  const bool sends = self->phase == eeprom_phase_read;
  if (self->phase == eeprom_phase_standby || self->clocks == 0) return;
  if (self->clocks < 8) {
    if (sends) self->low = !(self->shift >> (7 - self->clocks) & 1);
  } else if (self->clocks == 8) {
    self->low = !sends && take_byte(self);
    if (!sends && !self->low) self->phase = eeprom_phase_standby;
  } else {
    self->clocks = 0;
    self->low = false;
    if (sends && self->wanted)
      begin_to_send(self);
    else if (sends)
      self->phase = eeprom_phase_standby;
  }
}

phase_start() {
  send(data, !self->low);
}

phase_end() {
  if (some(lines)) self->master = data(lines);
  const bool driven = param(drive_bits) == 0 || (self->master & (uint32_t)param(drive_bits));
  const bool clock = self->master & (uint32_t)param(clock_bits);
  const bool level = !self->low && !(driven && !(self->master & (uint32_t)param(data_bits)));
  self->shown = self->low;
  if (clock && self->clock_line && level != self->data_line) {
    if (level)
      stop(self);
    else
      start(self);
  } else if (clock && !self->clock_line) {
    rise(self, level);
  } else if (!clock && self->clock_line) {
    fall(self);
  }
  self->clock_line = clock;
  self->data_line = level;
}

// What is shown follows by itself, and the line with it.
next_event() {
  return self->shown != self->low ? cycle() : never();
}

#undef SIZE
#undef PAGE
