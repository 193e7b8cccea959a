// The names of a machine that a word on a command line may become, level by level: instances up to the next dot, then
// what is in them.  The caller frees what it is given.
#ifndef SPINACH_COMPLETION_H
#define SPINACH_COMPLETION_H

#include <glib.h>

GPtrArray *completion_instances(const char *word);
GPtrArray *completion_states(const char *word);

// What a value of the state that is called so may go on with, behind `before`: the values that have names, and the
// members of what is in braces.
GPtrArray *completion_values(const char *state, const char *before);

// What a condition may go on with; `before` is what is ahead of the word: "event(", "" and so on.
GPtrArray *completion_conditions(const char *before, const char *word);

#endif
