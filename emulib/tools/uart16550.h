// A functional ns16550a: a character is sent in the instant in which it is written.
#ifndef EMULIB_UART16550_H
#define EMULIB_UART16550_H

#include <glib.h>

typedef struct {
  guint8 interrupt_enable, fifo_control, line_control, modem_control, scratch;
  guint16 divisor;
  gboolean sent;  // the holding register became empty, and nobody has read that in the identification yet
  GString *input; // received, and not read yet
  void (*output)(void *user, guint8 character);
  void *user;
} Uart16550;

void uart16550_init(Uart16550 *uart, void (*output)(void *user, guint8 character), void *user);
void uart16550_clear(Uart16550 *uart);
// Registers 0 to 7.
guint8 uart16550_read(Uart16550 *uart, unsigned number);
void uart16550_write(Uart16550 *uart, unsigned number, guint8 value);
// The level of the interrupt line.
gboolean uart16550_interrupts(const Uart16550 *uart);
void uart16550_receive(Uart16550 *uart, guint8 character);

#endif
