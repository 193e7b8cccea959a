// Signals that ask a run to end, or to leave the command at hand.
#ifndef SPINACH_SIGNALS_H
#define SPINACH_SIGNALS_H

#include <stdbool.h>

void spinach_watch_signals(bool commands); // with --interactive the first SIGINT only ends the command at hand
int spinach_interrupted(void);             // the signal that asked the run to end; 0: none did
bool spinach_take_pause(void);             // one is to end the command at hand; from here on it is not

#endif
