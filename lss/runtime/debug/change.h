// What a change of the state from outside ends.
#ifndef SPINACH_CHANGE_H
#define SPINACH_CHANGE_H

// The past is forgotten, and what was written to files after this instant is dropped.
void change_state(void);

#endif
