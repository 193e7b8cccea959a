// Turns what clang says about a unit into diagnostics of ours.
#ifndef LSS_CLANG_ERRORS_H
#define LSS_CLANG_ERRORS_H

#include <stdbool.h>

// Reports every error in `messages`; false when some of it is in generated code, which is a defect of the compiler.
// `text` is the unit that clang read.
bool clang_errors_report(const char *messages, const char *text);

#endif
