// The names of a part: a simulator of a kind of parts is built with the paths of one of them, its representative.
#ifndef SPINACH_LINK_RENAMING_H
#define SPINACH_LINK_RENAMING_H

#include "lss/runtime/link/network.h"

// Gives all that the tables of this machine name by path the names that it has in this part.  Before anything uses
// them. False, after a line: they cannot be changed.
bool spinach_rename_tables(const NetworkPart *part);

#endif
