// Names used by mac_transmit.c.
#ifndef MAC_TRANSMIT_H
#define MAC_TRANSMIT_H

// What is offered in a cycle; a set.
enum {
  TRANSMIT_OFFERS_MEMORY = 1,
  TRANSMIT_OFFERS_DESCRIPTOR = 2,
  TRANSMIT_OFFERS_REGISTER = 4,
  TRANSMIT_OFFERS_BEAT = 8
};

#endif
