// What readers of streams need of a run, for fuzzers that include those readers and have no machine.
#ifndef FUZZ_STREAMS_H
#define FUZZ_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

static jmp_buf failed;
static const char *file_name = ""; // that an error has to name

// An error is one line; the fuzzer goes on behind setjmp(failed).
_Noreturn void spinach_fail(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length <= 0 || !strstr(text, file_name) || strchr(text, '\n')) abort();
  longjmp(failed, 1);
}

// Of the end of a run, which no input comes to.
bool spinach_report_error(const char *format, ...) {
  (void)format;
  abort();
}

// No machine uses the streams.
static char *user_of(const char *path) {
  return g_strdup(path);
}

#endif
