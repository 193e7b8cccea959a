// What a simulator says of what is wrong, on standard error: each time one line that begins with its name.
#ifndef SPINACH_REPORT_H
#define SPINACH_REPORT_H

#include <stdbool.h>

extern const char *spinach_program; // name of the executable, for messages

// Prints "PROGRAM: text" and returns false.
bool spinach_report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The latest such text, until the next; for who reports it elsewhere, too.
const char *spinach_reported_error(void);

// While `wanted`, such texts are kept for spinach_report_take() and not printed.
void spinach_report_keep(bool wanted);
// The texts that were kept since the last call, joined by "; ", which the caller frees; NULL: there are none.
char *spinach_report_take(void);

// Stops the run for wrong input: one line "PROGRAM: error: PATH: text", status 1, and outputs are removed.
_Noreturn void spinach_fail(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));
// Who does that; does not return.
extern void (*spinach_on_fail)(const char *text);

// How far a run is, where a terminal shows that: NULL where none does.
struct spinach_progress_shown {
  void (*say)(const char *text); // shows this
  void (*clear)(void);           // shows nothing
};
extern struct spinach_progress_shown spinach_progress_shown;
void spinach_progress_say(const char *text); // what takes long and begins now
void spinach_progress_clear(void);           // before something else is printed

#endif
