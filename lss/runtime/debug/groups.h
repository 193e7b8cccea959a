// Instructions that a processor retires in one instant, one by one: the run stands before the instant, and those that
// were stepped over are shown as if they had retired.
#ifndef SPINACH_DEBUG_GROUPS_H
#define SPINACH_DEBUG_GROUPS_H

#include "lss/runtime/debug/stop.h"

// To the next instruction of the instant in which the processor retires the present one; false: there is none.
bool groups_step(guint core, Stop *stop);
// To the one before it in that instant, or to the last breakpoint before it; false: there is none.
bool groups_go_back(guint core, bool stepped, Stop *stop);

#endif
