// image_list.h: names of files in one text, with a comma between them: one for each of several programs, of which those
// that are left out have the last.
#ifndef IMAGE_LIST_H
#define IMAGE_LIST_H

#include <stdlib.h>
#include <string.h>

// The name of program n, to be freed.
static inline char *image_list_name(const char *list, int n) {
  for (const char *comma = strchr(list, ','); comma && n > 0; comma = strchr(list, ','), n--) list = comma + 1;
  return strndup(list, strcspn(list, ","));
}

#endif
