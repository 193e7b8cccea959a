// rtc_m48t02.c: a clock in a memory, and timers; see rtc_m48t02.lss.
#include <string.h>

#include "clock/device_time.h"
#include "emulib/rtc_registers.h"
#include "io/device_access.h"

#define SIZE  0x800
#define FIRST (SIZE - RTC_REGISTERS)
#define HELD  (RTC_HOLD_TO_READ | RTC_HOLD_TO_WRITE)
#define STOP  0x80 // in the seconds

init() {
  for (int k = 0; k < param(timers); k++) set_until(due[k], never());
  self->offset = param(start);
  if (param(image)[0] == '\0') return;
  stream file = {0};
  size_t size;
  stream_read_open(&file, param(image));
  const uint8_t *bytes = stream_contents(&file, &size);
  if (size > FIRST)
    sim_input_error("%s: %zu bytes do not fit: the memory before the clock has %d", param(image), size, FIRST);
  memcpy(store_span(bytes, 0, FIRST), bytes, size);
}

// ---- The clock ----
static int64_t seconds_passed(const self_t *self) {
  return self->stopped ? 0 : (int64_t)(now() / ticks_per_second());
}

static uint8_t clock_control(const self_t *self) {
  return load(bytes, FIRST);
}

// What the registers show when they are not held.
static void show(const self_t *self, uint8_t *registers) {
  const uint8_t control = clock_control(self);
  rtc_registers_show(self->offset + seconds_passed(self), registers);
  if (!param(century)) {
    registers[RTC_CONTROL] = control & RTC_CENTURY;
    registers[RTC_DAY] &= (uint8_t)~RTC_BATTERY_GOOD;
  }
  if (self->stopped) registers[RTC_SECONDS] |= STOP;
}

// The clock goes on from what was written; a date that there is not changes nothing.
static void set(self_t *self) {
  uint8_t present[RTC_REGISTERS], registers[RTC_REGISTERS];
  int64_t time = self->offset + seconds_passed(self);
  rtc_registers_show(time, present);
  for (uint32_t k = 0; k < RTC_REGISTERS; k++) registers[k] = load(bytes, FIRST + k);
  if (!param(century)) registers[RTC_CONTROL] = present[RTC_CONTROL];
  rtc_registers_time(registers, &time);
  self->stopped = registers[RTC_SECONDS] & STOP;
  self->offset = time - seconds_passed(self);
}

static void write_control(self_t *self, uint8_t value) {
  uint8_t control = clock_control(self);
  const uint8_t before = control & HELD;
  if (before == 0) {
    show(self, store_span(bytes, FIRST, RTC_REGISTERS));
    control = clock_control(self);
  }
  if (before & RTC_HOLD_TO_WRITE) control = value;
  store(bytes, FIRST, (uint8_t)((control & RTC_CENTURY) | (value & HELD)));
  if ((before & RTC_HOLD_TO_WRITE) && !(value & RTC_HOLD_TO_WRITE)) set(self);
}

// ---- Timers ----
static uint32_t timer_period(const self_t *self, uint32_t timer) {
  return (uint32_t)load_number(&self->period[8 * timer], 4, false);
}

static void begin_period(self_t *self, uint32_t timer) {
  const uint32_t period = timer_period(self, timer);
  set_until(due[timer], period ? device_cycles(period, 1000000, ticks_per_second(), clock_period()) : never());
}

static bool interrupts(const self_t *self) {
  bool any = false;
  for (int k = 0; k < param(timers); k++) any |= self->pending[k];
  return any;
}

static uint8_t read_timer(const self_t *self, uint32_t at) {
  if (at >= 8 * (uint32_t)param(timers)) return 0;
  return at & 4 ? (at & 3) == 0 && self->pending[at / 8] : self->period[at];
}

static void write_timer(self_t *self, uint32_t at, uint8_t value) {
  if (at >= 8 * (uint32_t)param(timers)) return;
  if (at & 4) {
    if ((at & 3) == 0 && (value & 1)) self->pending[at / 8] = false;
    return;
  }
  self->period[at] = value;
  begin_period(self, at / 8);
}

// ---- Signals and time ----
static uint8_t read_byte(const self_t *self, uint32_t address) {
  const uint32_t at = address % (2 * SIZE);
  if (at >= SIZE) return read_timer(self, at - SIZE);
  if (at < FIRST || (clock_control(self) & HELD)) return load(bytes, at);
  uint8_t registers[RTC_REGISTERS];
  show(self, registers);
  return registers[at - FIRST];
}

static void write_byte(self_t *self, uint32_t address, uint8_t value) {
  const uint32_t at = address % (2 * SIZE);
  if (at >= SIZE)
    write_timer(self, at - SIZE, value);
  else if (at == FIRST)
    write_control(self, value);
  else if (at < FIRST || (clock_control(self) & RTC_HOLD_TO_WRITE))
    store(bytes, at, value);
}

phase_start() {
  const bool level = interrupts(self);
  for (int i = 0; i < width(interrupt); i++) send(interrupt, i, level);
  send_if(in_reply, self->replying, self->reply);
}

phase_end() {
  self->shown = interrupts(self);
  for (int k = 0; k < param(timers); k++) {
    if (until(due[k]) != 0) continue;
    self->pending[k] = true;
    count(expirations);
    event(expired, (uint8_t)k);
    begin_period(self, (uint32_t)k);
  }
  self->replying = transferred(in_request);
  if (!self->replying) return;
  const typeof_port(in_request) request = data(in_request);
  DEVICE_SERVE(request, param(big_endian));
}

next_event() {
  if (self->replying || self->shown != interrupts(self)) return cycle();
  uint64_t first = never();
  for (int k = 0; k < param(timers); k++)
    if (after(until(due[k])) < first) first = after(until(due[k]));
  return unchanged(first);
}

#undef SIZE
#undef FIRST
#undef HELD
#undef STOP
