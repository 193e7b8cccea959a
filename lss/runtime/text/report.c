// Lines on standard error; see report.h.
#include "lss/runtime/text/report.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *spinach_program = "simulator";
void (*spinach_on_fail)(const char *text);
struct spinach_progress_shown spinach_progress_shown;

static char *reported;
static bool keeps;
static GString *kept; // NULL: nothing

static void keep(const char *text) {
  if (kept) g_string_append(kept, "; ");
  if (!kept) kept = g_string_new(NULL);
  g_string_append(kept, text);
}

bool spinach_report_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  if (keeps) {
    keep(text);
  } else {
    spinach_progress_clear();
    fprintf(stderr, "%s: %s\n", spinach_program, text);
  }
  g_free(reported);
  reported = g_steal_pointer(&text);
  return false;
}

void spinach_report_keep(bool wanted) {
  keeps = wanted;
}

char *spinach_report_take(void) {
  GString *text = g_steal_pointer(&kept);
  return text ? g_string_free(text, FALSE) : NULL;
}

const char *spinach_reported_error(void) {
  return reported;
}

void spinach_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  spinach_on_fail(g_strdup_vprintf(format, arguments));
  abort();
}

void spinach_progress_say(const char *text) {
  if (spinach_progress_shown.say) spinach_progress_shown.say(text);
}

void spinach_progress_clear(void) {
  if (spinach_progress_shown.clear) spinach_progress_shown.clear();
}
