// Reads whole numbers; see number.h.
#include "lss/runtime/text/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool number_parse(const char *text, uint64_t limit, uint64_t *number) {
  char *end;
  if (!isdigit((unsigned char)text[0])) return false;
  errno = 0;
  *number = strtoull(text, &end, 0);
  return *end == '\0' && errno == 0 && *number <= limit;
}
