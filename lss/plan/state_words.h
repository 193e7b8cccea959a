// The words by which a module reaches its state, by the kind of the field (docs/module.md).
#ifndef LSS_STATE_WORDS_H
#define LSS_STATE_WORDS_H

#include "lss/elab/netlist.h"
#include "lss/plan/module_source.h"

bool is_state_word(const char *word);
// Reports fields that are reached by words of another kind.
bool state_words_check(const Instance *instance, const ModuleSource *source);

#endif
