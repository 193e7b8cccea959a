// How readers of files say that one is wrong; see refusal.h.
#include "lss/runtime/text/refusal.h"

bool spinach_refuse(GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, text);
  return false;
}
