// uart16550.c: a serial port; see uart16550.lss.
#include "io/uart16550.h"

#include "clock/device_time.h"
#include "emulib/console_script.h"
#include "io/device_access.h"

#define FIFO 16

static uint64_t cycles_of(uint64_t parts, uint64_t per_second) {
  return device_cycles(parts, per_second, ticks_per_second(), clock_period());
}

// Of a character: 16 clocks of the divided input for each of its bits, whose stops are 1, 1.5 or 2.
static uint64_t character_cycles(const self_t *self) {
  if (param(instant)) return 0;
  const uint64_t data = 5 + (self->line_control & 3), parity = self->line_control >> 3 & 1;
  const uint64_t half_stops = !(self->line_control & 4) ? 2 : data == 5 ? 3 : 4;
  const uint64_t divisor = self->divisor ? self->divisor : 1;
  return cycles_of((2 * (1 + data + parity) + half_stops) * 8 * divisor, (uint64_t)param(input_frequency));
}

static uint64_t arrival_cycles(const self_t *self) {
  return param(instant) ? 1 : character_cycles(self);
}

static uint32_t room(const self_t *self) {
  return self->fifo_control & UART_FIFO_ENABLE ? FIFO : 1;
}

// ---- What is typed ----
static ConsoleScript script(const self_t *self) {
  ConsoleScript typed = {0};
  typed.text = (const char *)stream_contents(&self->typed, &typed.size);
  return typed;
}

static ConsoleProgress progress(const self_t *self) {
  return (ConsoleProgress){self->script_line, self->script_sent, self->script_wait, self->script_matched};
}

// Of silence while the script waits.
static uint64_t timeout_cycles(const self_t *self) {
  return param(script_timeout) > 0 ? cycles_of((uint64_t)param(script_timeout), 1000000000000000) : never();
}

// Goes on with the script from here, which what was done before has come to just now.
static void type(self_t *self, ConsoleProgress at) {
  uint64_t ns;
  const ConsoleStep next = console_script_next(script(self), &at, &ns);
  set_until(arrives, next == CONSOLE_SENDS ? cycles_of(ns, 1000000000) + arrival_cycles(self) : never());
  set_until(overdue, next == CONSOLE_WAITS ? timeout_cycles(self) : never());
  self->script_line = at.line;
  self->script_sent = at.sent;
  self->script_wait = at.wait;
  self->script_matched = at.matched;
}

static void time_out(const self_t *self) {
  char step[CONSOLE_WHY];
  console_script_step(script(self), self->script_line, step, sizeof step);
  sim_error("%s, %s: nothing was printed for %g s of simulated time (script_timeout waits longer)", param(script), step,
            (double)param(script_timeout) / 1e15);
}

// What was typed is lost: the step cannot do what it is for.
static void lose_typed(self_t *self, const char *why) {
  char step[CONSOLE_WHY];
  console_script_step(script(self), self->script_typed, step, sizeof step);
  sim_error("%s, %s: a character is lost: %s (wait for the text that it prints when it reads)", param(script), step,
            why);
}

static void begin_script(self_t *self) {
  set_until(arrives, never());
  set_until(overdue, never());
  if (param(script)[0] != '\0') type(self, (ConsoleProgress){0});
}

// ---- A terminal, and the record of what arrives ----

// What is typed arrives no earlier than a script's would, so that a script can say when it did.
static void begin_terminal(self_t *self) {
  set_stamp(arrived, 0);
  self->apart = arrival_cycles(self);
  set_until(looks, stream_is_open(&self->keyboard) ? self->apart : never());
}

// The time in nanoseconds after which a script lets a character arrive now; UINT64_MAX when none does: a cycle may be
// shorter than a nanosecond, or this one too early.
static uint64_t script_time(const self_t *self) {
  const uint64_t since = elapsed(arrived);
  if (since < self->apart) return UINT64_MAX;
  const unsigned __int128 ticks = (unsigned __int128)(since - self->apart) * clock_period();
  const uint64_t ns = (uint64_t)(ticks * 1000000000 / ticks_per_second());
  return cycles_of(ns, 1000000000) == since - self->apart ? ns : UINT64_MAX;
}

static bool can_record(const self_t *self) {
  return !stream_is_open(&self->recorded) || script_time(self) != UINT64_MAX;
}

// A character that arrives now.
static void record(self_t *self, uint8_t character) {
  if (!stream_is_open(&self->recorded)) return;
  const uint64_t ns = script_time(self);
  if (ns > 0) stream_printf(&self->recorded, "after %llu ns\n", (unsigned long long)ns);
  if (character == '\n')
    stream_printf(&self->recorded, "send \"\\n\"\n");
  else if (character < ' ' || character > '~' || character == '"' || character == '\\')
    stream_printf(&self->recorded, "send \"\\%03o\"\n", character);
  else
    stream_printf(&self->recorded, "send \"%c\"\n", character);
  set_stamp(arrived, 0);
  self->apart = arrival_cycles(self);
}

init() {
  stream_write_open(&self->out, param(output));
  if (param(script)[0] != '\0') {
    stream_read_open(&self->typed, param(script));
    char why[CONSOLE_WHY];
    const uint32_t wrong = console_script_wrong_line(script(self), why, sizeof why);
    if (wrong > 0) sim_input_error("%s:%u: %s", param(script), wrong, why);
  }
  begin_script(self);
  stream_terminal_open(&self->keyboard, &self->screen, param(terminal));
  if (stream_is_open(&self->keyboard)) sim_warn("what is typed comes from a terminal: this run is not repeatable");
  if (param(record)[0] != '\0') stream_write_open(&self->recorded, param(record));
  begin_terminal(self);
}

handler(reset, script) {
  begin_script(self);
}

handler(reset, terminal) {
  begin_terminal(self);
}

handler(reset, record) {
  begin_terminal(self);
}

// ---- Receiver ----
static bool neglected(const self_t *self) {
  return (self->fifo_control & UART_FIFO_ENABLE) && self->receive_count > 0 && until(neglected) == 0;
}

// A character has arrived; without FIFOs the one before makes room.
static void receive(self_t *self, uint8_t character) {
  const bool full = self->receive_count == room(self), had_neglected = neglected(self);
  count(received);
  event(received, character);
  if (full) {
    self->overrun = true;
    count(overruns);
  }
  if (full && (self->fifo_control & UART_FIFO_ENABLE)) return;
  if (!full) self->receive_count++;
  self->receive[(self->receive_head + self->receive_count - 1) % FIFO] = character;
  if (!had_neglected) set_until(neglected, 4 * arrival_cycles(self));
}

static uint8_t take_received(self_t *self) {
  if (self->receive_count == 0) return 0;
  const uint8_t character = self->receive[self->receive_head];
  self->receive_head = (self->receive_head + 1) % FIFO;
  if (--self->receive_count == 0) self->holds_typed = false;
  set_until(neglected, 4 * arrival_cycles(self));
  return character;
}

// ---- Transmitter ----
static void leave(self_t *self, uint8_t character) {
  if (self->modem_control & UART_LOOP) {
    receive(self, character);
    return;
  }
  stream_write(&self->out, &character, 1);
  if (stream_is_open(&self->screen)) stream_terminal_write(&self->screen, &character, 1);
  if (character == '\n' || stream_is_open(&self->keyboard)) stream_flush(&self->out); // for who watches
  count(sent);
  event(sent, character);
  sim_progress();
  if (!stream_is_open(&self->typed)) return;
  ConsoleProgress at = progress(self);
  const bool waited = console_script_printed(script(self), &at, character);
  self->script_wait = at.wait;
  self->script_matched = at.matched;
  if (waited)
    type(self, at);
  else if (until(overdue) != never())
    set_until(overdue, timeout_cycles(self));
}

// The next character begins to leave, if none is on its way.
static void begin_to_leave(self_t *self) {
  while (!self->shifting && self->transmit_count > 0) {
    self->shift = self->transmit[self->transmit_head] & (uint8_t)(0xff >> (3 - (self->line_control & 3)));
    self->transmit_head = (self->transmit_head + 1) % FIFO;
    self->transmit_empty = --self->transmit_count == 0;
    self->shifting = !param(instant);
    if (self->shifting)
      set_until(shifted, character_cycles(self));
    else
      leave(self, self->shift);
  }
}

static void transmit(self_t *self, uint8_t character) {
  const bool full = self->transmit_count == room(self);
  self->transmit_empty = false;
  if (full) count(discarded);
  if (full && (self->fifo_control & UART_FIFO_ENABLE)) return;
  if (!full) self->transmit_count++;
  self->transmit[(self->transmit_head + self->transmit_count - 1) % FIFO] = character;
  begin_to_leave(self);
}

// ---- Registers ----
static uint8_t identification(const self_t *self) {
  static const uint8_t triggers[] = {1, 4, 8, 14};
  const bool fifos = self->fifo_control & UART_FIFO_ENABLE;
  if ((self->interrupt_enable & UART_ENABLE_LINE) && self->overrun) return UART_IDENTIFY_LINE;
  if (self->interrupt_enable & UART_ENABLE_RECEIVED) {
    if (self->receive_count >= (fifos ? triggers[self->fifo_control >> 6] : 1)) return UART_IDENTIFY_RECEIVED;
    if (neglected(self)) return UART_IDENTIFY_NEGLECTED;
  }
  if ((self->interrupt_enable & UART_ENABLE_EMPTY) && self->transmit_empty) return UART_IDENTIFY_EMPTY;
  if ((self->interrupt_enable & UART_ENABLE_MODEM) && self->modem_changes) return UART_IDENTIFY_MODEM;
  return UART_IDENTIFY_NONE;
}

static bool interrupts(const self_t *self) {
  return identification(self) != UART_IDENTIFY_NONE;
}

// The modem's lines: clear to send, data set ready, ring, carrier.  In loop mode they are this side's outputs: request
// to send, data terminal ready, and the two of no fixed meaning.
static uint8_t modem_lines(const self_t *self) {
  const uint8_t out = self->modem_control;
  return out & UART_LOOP ? (uint8_t)((out >> 1 & 1) | (out & 1) << 1 | (out & 0xc)) : (uint8_t)param(modem);
}

// A ring counts when it ends.
static void control_modem(self_t *self, uint8_t value) {
  const uint8_t before = modem_lines(self);
  self->modem_control = value & 0x1f;
  const uint8_t after = modem_lines(self), changed = before ^ after;
  self->modem_changes |= changed & ~(after & UART_RING);
}

static void clear_received(self_t *self) {
  if (self->receive_count > 0 && self->holds_typed) lose_typed(self, "the program cleared the receiver");
  self->receive_count = 0;
}

static void control_fifos(self_t *self, uint8_t value) {
  const bool toggled = (value ^ self->fifo_control) & UART_FIFO_ENABLE;
  if (!toggled && !(value & UART_FIFO_ENABLE)) return; // the other bits are programmed together with this one only
  if (toggled || (value & UART_FIFO_CLEAR_RECEIVE)) clear_received(self);
  if ((toggled || (value & UART_FIFO_CLEAR_TRANSMIT)) && self->transmit_count > 0) {
    self->transmit_count = 0;
    self->transmit_empty = true;
  }
  self->fifo_control = value & UART_FIFO_ENABLE ? value & UART_FIFO_KEPT : 0;
}

// What is there is enough for an interrupt that becomes enabled.
static void enable_interrupts(self_t *self, uint8_t value) {
  if ((value & ~self->interrupt_enable & UART_ENABLE_EMPTY) && self->transmit_count == 0) self->transmit_empty = true;
  self->interrupt_enable = value & 0xf;
}

static uint8_t line_status(self_t *self) {
  const uint8_t status = (uint8_t)((self->receive_count ? UART_READY : 0) | (self->overrun ? UART_OVERRUN : 0) |
                                   (self->transmit_count ? 0 : UART_HOLDING_EMPTY) |
                                   (self->transmit_count || self->shifting ? 0 : UART_ALL_EMPTY));
  self->overrun = false;
  return status;
}

static uint8_t identify(self_t *self) {
  const uint8_t value = identification(self);
  if (value == UART_IDENTIFY_EMPTY) self->transmit_empty = false;
  return self->fifo_control & UART_FIFO_ENABLE ? value | UART_IDENTIFY_FIFOS : value;
}

static uint8_t modem_status(self_t *self) {
  const uint8_t status = (uint8_t)(modem_lines(self) << 4 | self->modem_changes);
  self->modem_changes = 0;
  return status;
}

// Which register a byte is; UART_REGISTERS when it is none.
static enum uart_register register_at(uint32_t address) {
  if (address & ((1u << param(reg_shift)) - 1)) return UART_REGISTERS;
  return (enum uart_register)(address >> param(reg_shift) & (UART_REGISTERS - 1));
}

static uint8_t read_byte(self_t *self, uint32_t address) {
  const bool divisor = self->line_control & UART_LINE_DIVISOR;
  switch (register_at(address)) {
  case UART_DATA: return divisor ? (uint8_t)self->divisor : take_received(self);
  case UART_INTERRUPT_ENABLE: return divisor ? (uint8_t)(self->divisor >> 8) : self->interrupt_enable;
  case UART_IDENTIFICATION: return identify(self);
  case UART_LINE_CONTROL: return self->line_control;
  case UART_MODEM_CONTROL: return self->modem_control;
  case UART_LINE_STATUS: return line_status(self);
  case UART_MODEM_STATUS: return modem_status(self);
  case UART_SCRATCH: return self->scratch;
  default: return 0;
  }
}

static void write_byte(self_t *self, uint32_t address, uint8_t value) {
  const bool divisor = self->line_control & UART_LINE_DIVISOR;
  switch (register_at(address)) {
  case UART_DATA:
    if (divisor)
      self->divisor = (uint16_t)((self->divisor & 0xff00) | value);
    else
      transmit(self, value);
    return;
  case UART_INTERRUPT_ENABLE:
    if (divisor)
      self->divisor = (uint16_t)((self->divisor & 0xff) | value << 8);
    else
      enable_interrupts(self, value);
    return;
  case UART_IDENTIFICATION: control_fifos(self, value); return;
  case UART_LINE_CONTROL: self->line_control = value; return;
  case UART_MODEM_CONTROL: control_modem(self, value); return;
  case UART_SCRATCH: self->scratch = value; return;
  default: return;
  }
}

// ---- Signals and time ----
phase_start() {
  const bool level = interrupts(self);
  for (int i = 0; i < width(interrupt); i++) send(interrupt, i, level);
  send_if(in_reply, self->replying, self->reply);
}

// A character arrives now; with `instant`, when there is room.
static bool arrives(const self_t *self) {
  return until(arrives) == 0 && (!param(instant) || self->receive_count < room(self));
}

// The next character of the script.
static void arrive(self_t *self) {
  ConsoleProgress at = progress(self);
  self->script_typed = at.line;
  self->holds_typed = true;
  if (self->receive_count == room(self)) lose_typed(self, "the program did not read the ones before");
  const uint8_t character = console_script_take(script(self), &at);
  record(self, character);
  receive(self, character);
  type(self, at);
}

static void look(self_t *self) {
  uint8_t character;
  if (!can_record(self)) {
    set_until(looks, 1);
    return;
  }
  const bool typed = self->receive_count < room(self) && stream_terminal_read(&self->keyboard, &character);
  if (typed) {
    record(self, character);
    receive(self, character);
  }
  set_until(looks, typed ? arrival_cycles(self) : cycles_of(1, 1000));
}

phase_end() {
  self->shown = interrupts(self);
  if (self->shifting && until(shifted) == 0) {
    self->shifting = false;
    leave(self, self->shift);
    begin_to_leave(self);
  }
  if (arrives(self) && !can_record(self))
    set_until(arrives, 1);
  else if (arrives(self))
    arrive(self);
  if (until(looks) == 0) look(self);
  if (until(overdue) == 0) time_out(self);
  self->replying = transferred(in_request);
  if (!self->replying) return;
  const typeof_port(in_request) request = data(in_request);
  DEVICE_SERVE(request, param(big_endian));
}

next_event() {
  if (self->replying || self->shown != interrupts(self)) return cycle();
  uint64_t first = self->shifting && until(shifted) < until(looks) ? after(until(shifted)) : after(until(looks));
  const bool waits = param(instant) && self->receive_count == room(self);
  if (!waits && after(until(arrives)) < first) first = after(until(arrives));
  const bool counts = (self->fifo_control & UART_FIFO_ENABLE) && self->receive_count > 0 && until(neglected) > 0;
  if (counts && after(until(neglected)) < first) first = after(until(neglected));
  return unchanged(after(until(overdue)) < first ? after(until(overdue)) : first);
}

awaits() {
  char step[CONSOLE_WHY];
  const ConsoleProgress at = progress(self);
  if (!stream_is_open(&self->typed) || !console_script_waits(script(self), &at)) return;
  console_script_step(script(self), self->script_line, step, sizeof step);
  sim_error("waits for the text of %s, %s", param(script), step);
}

#undef FIFO
