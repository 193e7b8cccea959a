// Instants of the state that are past.  They decide nothing any more, and are 0 wherever the state is looked at
// (checkpoints, hashes, what is printed): so what is seen is the same whether a cycle was stepped or not.
#ifndef SPINACH_INSTANTS_H
#define SPINACH_INSTANTS_H

// Clears those of all instances that do not come after the cycle that is next.
void spinach_clear_all_past(void);

// Lets all flights begin at their first slot, and clears the slots that hold nothing: which slots of a ring are taken
// depends on when it was last empty, and that on how a network is built.
void spinach_order_flights(void);

#endif
