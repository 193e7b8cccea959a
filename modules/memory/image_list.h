/* image_list.h: names of files in one text, with a comma between them: one for each of several programs, of which those
 * that are left out have the last. */
#ifndef IMAGE_LIST_H
#define IMAGE_LIST_H

#include <stddef.h>
#include <string.h>

/* The name of program n, cut to `size` bytes. */
static inline void image_list_name(const char *list, int n, char *name, size_t size) {
  for (const char *comma = strchr(list, ','); comma && n > 0; comma = strchr(list, ','), n--) list = comma + 1;
  size_t length = strcspn(list, ",");
  if (length >= size) length = size - 1;
  memcpy(name, list, length);
  name[length] = '\0';
}

#endif
