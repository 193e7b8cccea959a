// Patterns of paths; see pattern.h.  A match is worked out from the ends, so that many stars cost no more than their
// number: whether the pattern from each place on matches the path from each place on.
#include "lss/runtime/text/pattern.h"

#include <glib.h>
#include <string.h>

bool spinach_path_matches(const char *pattern, const char *path) {
  const gsize n = strlen(pattern), m = strlen(path);
  g_autofree bool *table = g_new0(bool, (n + 1) * (m + 1));
#define MATCHES(i, k) table[(i) * (m + 1) + (k)]
  MATCHES(n, m) = true;
  for (gsize i = n; i-- > 0;) {
    for (gsize k = m + 1; k-- > 0;) {
      const char c = k < m ? path[k] : '\0';
      if (pattern[i] == '*' && pattern[i + 1] == '*') {
        const bool begins = k == 0 || path[k - 1] == '.'; // a name does
        const bool none = begins && pattern[i + 2] == '.' && MATCHES(i + 3, k);
        MATCHES(i, k) = none || MATCHES(i + 2, k) || (c && MATCHES(i, k + 1));
      } else if (pattern[i] == '*') {
        MATCHES(i, k) = MATCHES(i + 1, k) || (c && !strchr(".[]", c) && MATCHES(i, k + 1));
      } else if (k == m) {
        MATCHES(i, k) = g_str_has_prefix(pattern + i, ".**") && MATCHES(i + 3, k);
      } else {
        MATCHES(i, k) = pattern[i] == c && MATCHES(i + 1, k + 1);
      }
    }
  }
#undef MATCHES
  return table[0];
}

bool spinach_port_matches(const char *pattern, const char *end, int lane) {
  const char *bracket = g_str_has_suffix(end, "]") ? strrchr(end, '[') : NULL;
  g_autofree char *port = bracket ? g_strndup(end, (gsize)(bracket - end)) : g_strdup(end);
  g_autofree char *numbered = g_strdup_printf("%s[%d]", port, lane);
  const char *dot = bracket ? strchr(bracket, '.') : NULL;
  g_autofree char *keyed = dot ? g_strdup_printf("%.*s]", (int)(dot - end), end) : g_strdup(end);
  return spinach_path_matches(pattern, end) || spinach_path_matches(pattern, port) ||
         spinach_path_matches(pattern, numbered) || spinach_path_matches(pattern, keyed);
}

unsigned long spinach_port_part(const char *pattern) {
  static const char *const signals[] = {".data", ".enable", ".ack"};
  for (const char *dot = strchr(pattern, '.'); dot; dot = strchr(dot + 1, '.'))
    for (gsize i = 0; i < G_N_ELEMENTS(signals); i++) {
      const gsize length = strlen(signals[i]);
      const char next = strncmp(dot, signals[i], length) ? 'x' : dot[length];
      if (!next || (i == 0 && (next == '.' || next == '['))) return (unsigned long)(dot - pattern);
    }
  return strlen(pattern);
}
