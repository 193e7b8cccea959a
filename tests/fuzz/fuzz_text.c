// Fuzzes the front end of the front end: any bytes go through lexer, parser and formatter without a crash; formatted
// text that parsed before parses again and is not changed by formatting it twice.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/front/fmt.h"
#include "lss/front/scanner.h"

#include <stdlib.h>
#include <string.h>

// True when the text parsed without errors.
static bool parses(const char *text, gsize length) {
  diag_register_text("fuzz.lss", text);
  bool fine = !parse_text("fuzz.lss", text, length)->failed;
  diag_flush();
  diag_reset();
  arena_release();
  return fine;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  g_autofree char *text = g_strndup((const char *)bytes, size);
  bool fine = parses(text, strlen(text));
  const int widths[] = {0, 60}; // as long as they are; broken
  for (gsize i = 0; i < G_N_ELEMENTS(widths); i++) {
    g_autofree char *once = format_lss(text, widths[i]), *twice = format_lss(once, widths[i]);
    if (fine && strcmp(once, twice) != 0) abort();
    if (fine && !parses(once, strlen(once))) abort();
  }
  return 0;
}
