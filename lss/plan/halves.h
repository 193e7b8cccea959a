// The two halves of a crossing that can be cut: which function, and which field of the state, belongs to which end.
#ifndef LSS_HALVES_H
#define LSS_HALVES_H

#include "lss/elab/netlist.h"
#include "lss/plan/module_source.h"

typedef enum { END_NONE = 0, END_IN = 1, END_OUT = 2, END_BOTH = END_IN | END_OUT } Ends;

typedef struct Halves Halves;

// Of a crossing that declares a cut; reports what both ends use (cut-state).
Halves *halves_find(const Instance *crossing, const ModuleSource *source);
void halves_free(Halves *halves);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Halves, halves_free)

// Whether both ends use nothing in common but flights.
bool halves_fine(const Halves *halves);
// The half that has a field: one alone.
Ends halves_of_field(const Halves *halves, const StateField *field);
// The half that emits an event.
Ends halves_of_event(const Halves *halves, const char *event);
// The halves in which a function of the module runs.
Ends halves_of_function(const Halves *halves, const Function *function);
// The same of one that needs no declaration: "skip", "statistics", "awaits", "check_state".
Ends halves_of_hook(const Halves *halves, const char *word);

#endif
