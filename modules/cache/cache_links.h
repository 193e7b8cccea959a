// cache_links.h: the links of load-linked that caches keep, one for each context of their requesters: the number of a
// line.  A bit of three in a request's tag, and the two above it, are the number of its context.
#ifndef CACHE_LINKS_H
#define CACHE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

// The links, in the state of a module.
typedef struct {
  bool *valid;
  uint32_t *line;
  int contexts, bit;
} cache_links;

#define CACHE_LINKS(self)                                                                                              \
  ((cache_links){                                                                                                      \
      .valid = (self)->linked, .line = (self)->linked_line, .contexts = param(contexts), .bit = param(context_bit)})

// The context of a request; of a tag that no requester has made, any.
static inline uint8_t request_context(uint32_t tag, int contexts, int bit) {
  const int context = (int)(tag >> bit) & (contexts > 4 ? 7 : contexts > 2 ? 3 : contexts > 1 ? 1 : 0);
  return (uint8_t)(context < contexts ? context : 0);
}

// Whether the link of the context of a request to a line is valid; `valid` and `line` are those of the module.
static inline bool link_valid(const bool *valid, const uint32_t *line, int context, uint32_t number) {
  return valid[context] && line[context] == number;
}

// A request begins a link.
static inline void link_begin(cache_links links, uint32_t tag, uint32_t number) {
  const int context = request_context(tag, links.contexts, links.bit);
  links.valid[context] = true;
  links.line[context] = number;
}

static inline void link_end(cache_links links, uint32_t tag) {
  links.valid[request_context(tag, links.contexts, links.bit)] = false;
}

// A line was written, from the first to the last of some: links to it end, but for that of the context of the request
// that wrote; -1: of nobody's here.
static inline void links_end(cache_links links, int writer, uint32_t first, uint32_t last) {
  for (int c = 0; c < links.contexts; c++)
    if (c != writer && links.line[c] - first <= last - first) links.valid[c] = false;
}

// Whether a link to a line is valid.
static inline bool links_any(cache_links links, uint32_t number) {
  bool any = false;
  for (int c = 0; c < links.contexts; c++) any |= link_valid(links.valid, links.line, c, number);
  return any;
}

// A request wrote a line.
static inline void links_end_of_others(cache_links links, uint32_t tag, uint32_t number) {
  if (links.contexts > 1) links_end(links, request_context(tag, links.contexts, links.bit), number, number);
}

#endif
