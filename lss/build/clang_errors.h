// Turns what clang says about a unit into diagnostics of ours.
#ifndef LSS_CLANG_ERRORS_H
#define LSS_CLANG_ERRORS_H

#include <stdbool.h>

// Reports every error and warning in `messages` that is in C of the user's.  False when no error is: then it is the
// generated code that is wrong, a defect of the compiler.  `text` is the unit that clang read.
bool clang_errors_report(const char *messages, const char *text);

#endif
