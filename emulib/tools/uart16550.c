// The functional UART; see uart16550.h.  Reference: National Semiconductor, PC16550D data sheet.
#include "uart16550.h"

enum { DATA, INTERRUPT_ENABLE, IDENTIFICATION, LINE_CONTROL, MODEM_CONTROL, LINE_STATUS, MODEM_STATUS, SCRATCH };

enum {
  ENABLE_RECEIVED = 1,
  ENABLE_SENT = 2,
  IDENTIFY_NONE = 1,
  IDENTIFY_SENT = 2,
  IDENTIFY_RECEIVED = 4,
  IDENTIFY_FIFOS = 0xc0,
  FIFO_ENABLE = 1,
  FIFO_CLEAR_RECEIVED = 2,
  DIVISOR_ACCESS = 0x80,
  MODEM_LOOP = 0x10,
  STATUS_RECEIVED = 1,
  STATUS_EMPTY = 0x60, // holding register and shift register
  MODEM_READY = 0xb0,  // carrier, data set ready, clear to send
};

void uart16550_init(Uart16550 *uart, void (*output)(void *user, guint8 character), void *user) {
  *uart = (Uart16550){.divisor = 1, .sent = TRUE, .input = g_string_new(NULL), .output = output, .user = user};
}

void uart16550_clear(Uart16550 *uart) {
  g_string_free(uart->input, TRUE);
}

static guint8 identification(const Uart16550 *uart) {
  if ((uart->interrupt_enable & ENABLE_RECEIVED) && uart->input->len > 0) return IDENTIFY_RECEIVED;
  if ((uart->interrupt_enable & ENABLE_SENT) && uart->sent) return IDENTIFY_SENT;
  return IDENTIFY_NONE;
}

gboolean uart16550_interrupts(const Uart16550 *uart) {
  return identification(uart) != IDENTIFY_NONE;
}

void uart16550_receive(Uart16550 *uart, guint8 character) {
  g_string_append_c(uart->input, (char)character);
}

static guint8 received(Uart16550 *uart) {
  if (uart->input->len == 0) return 0;
  const guint8 character = (guint8)uart->input->str[0];
  g_string_erase(uart->input, 0, 1);
  return character;
}

// In loop mode the modem's inputs are its outputs: RTS, DTR, OUT1, OUT2 as CTS, DSR, RI, DCD.
static guint8 modem_status(const Uart16550 *uart) {
  const guint8 out = uart->modem_control;
  if (!(out & MODEM_LOOP)) return MODEM_READY;
  return (guint8)((out & 2) << 3 | (out & 1) << 5 | (out & 0xc) << 4);
}

guint8 uart16550_read(Uart16550 *uart, unsigned number) {
  const gboolean divisor = (uart->line_control & DIVISOR_ACCESS) != 0;
  guint8 value;
  switch (number) {
  case DATA: return divisor ? (guint8)uart->divisor : received(uart);
  case INTERRUPT_ENABLE: return divisor ? (guint8)(uart->divisor >> 8) : uart->interrupt_enable;
  case IDENTIFICATION:
    value = identification(uart);
    if (value == IDENTIFY_SENT) uart->sent = FALSE;
    return uart->fifo_control & FIFO_ENABLE ? value | IDENTIFY_FIFOS : value;
  case LINE_CONTROL: return uart->line_control;
  case MODEM_CONTROL: return uart->modem_control;
  case LINE_STATUS: return STATUS_EMPTY | (uart->input->len > 0 ? STATUS_RECEIVED : 0);
  case MODEM_STATUS: return modem_status(uart);
  default: return uart->scratch;
  }
}

static void send(Uart16550 *uart, guint8 character) {
  uart->sent = TRUE;
  if (uart->modem_control & MODEM_LOOP)
    uart16550_receive(uart, character);
  else
    uart->output(uart->user, character);
}

void uart16550_write(Uart16550 *uart, unsigned number, guint8 value) {
  const gboolean divisor = (uart->line_control & DIVISOR_ACCESS) != 0;
  switch (number) {
  case DATA:
    if (divisor)
      uart->divisor = (uart->divisor & 0xff00) | value;
    else
      send(uart, value);
    return;
  case INTERRUPT_ENABLE:
    if (divisor) {
      uart->divisor = (guint16)((uart->divisor & 0xff) | value << 8);
    } else {
      // Enabling the interrupt of an empty register raises it.
      if (value & ~uart->interrupt_enable & ENABLE_SENT) uart->sent = TRUE;
      uart->interrupt_enable = value & 0xf;
    }
    return;
  case IDENTIFICATION:
    uart->fifo_control = value;
    if (value & FIFO_CLEAR_RECEIVED) g_string_truncate(uart->input, 0);
    return;
  case LINE_CONTROL: uart->line_control = value; return;
  case MODEM_CONTROL: uart->modem_control = value & 0x1f; return;
  case SCRATCH: uart->scratch = value; return;
  default: return;
  }
}
