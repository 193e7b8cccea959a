// What the driver of a device is written in, when a host's software is a module: one step after the other, as a driver is.
// `run(self, …)` holds one switch over self->at, is called once a cycle, and goes on at the step where it waited.
// Local variables do not survive a wait.  The state needs the fields that the steps name, as in their use below.
#ifndef DRIVER_STEPS_H
#define DRIVER_STEPS_H

enum { DRIVER_STEP_IDLE, DRIVER_STEP_OFFERED, DRIVER_STEP_WAITS };

// Waits until the condition holds.
#define STEP_WAIT_AT(place, condition) \
  do {                                 \
    self->at = (place);                \
    __attribute__((fallthrough));      \
  case (place):                        \
    if (!(condition)) return;          \
  } while (0)
#define STEP_WAIT(condition) STEP_WAIT_AT(1 + __COUNTER__, condition)

// Writes a word through the device's window.
#define STEP_WRITE(at_address, value)             \
  do {                                            \
    self->window_address = (uint32_t)(at_address); \
    self->window_value = (uint32_t)(value);       \
    self->window_state = DRIVER_STEP_OFFERED;     \
    STEP_WAIT(self->window_state == DRIVER_STEP_IDLE); \
  } while (0)

// Moves bytes between self->bytes and host memory.
#define STEP_MEMORY(writes, at_address, byte_count)     \
  do {                                                  \
    self->memory_write = (writes);                      \
    self->memory_address = (uint32_t)(at_address);      \
    self->memory_length = (uint32_t)(byte_count);       \
    self->memory_asked = self->memory_done = 0;         \
    STEP_WAIT(self->memory_done == self->memory_length); \
    self->memory_length = self->memory_asked = 0;       \
    self->memory_done = 0;                              \
  } while (0)
#define STEP_GET(at_address, byte_count) STEP_MEMORY(false, at_address, byte_count)
#define STEP_PUT(at_address, byte_count) STEP_MEMORY(true, at_address, byte_count)

#endif
