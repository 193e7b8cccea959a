/* memory_state.c: bytes behind memory ports; see memory_state.lss. */
#include <ctype.h>
#include <stdlib.h>

#include "emulib/program/program.h"
#include "memory_access.h"

/* Where a reference falls; false when nothing answers there. */
static inline bool locate(const typeof_port(port_request) *request, uint32_t *offset) {
  uint32_t at = request->address - (uint32_t)param(base);
  if (param(alias))
    at &= (uint32_t)(param(size) - 1);
  *offset = at;
  return request->size >= 1 && request->size <= param(width) / 8 && at < param(size) && request->size <= param(size) - at;
}

static inline bool reads_only(mem_op op) { return op == mem_op_read || op == mem_op_load_linked; }

/* The bytes at `offset` as they are after the first `count` writes of this cycle. */
static inline void view(const self_t *self, const memory_written *writes, int count, uint32_t offset, uint32_t size, uint8_t *bytes) {
  memcpy(bytes, &self->bytes[offset], size);
  for (int i = 0; i < count; i++) {
    if (!memory_overlap(offset, size, writes[i].offset, writes[i].size))
      continue;
    for (uint32_t k = 0; k < writes[i].size; k++) {
      uint32_t at = writes[i].offset + k - offset;
      if (at < size)
        bytes[at] = writes[i].bytes[k];
    }
  }
}

/* Whether the store_conditional of a tag may store: its reservation stands, and no write of this cycle came before. */
static inline bool reservation_stands(const self_t *self, const memory_written *writes, int count, uint32_t tag, uint32_t offset) {
  uint32_t block = offset / param(reservation_bytes);
  bool stands = false;
  for (int k = 0; k < param(reservations); k++)
    stands |= self->reserved[k] && self->reserved_tag[k] == tag && self->reserved_block[k] == block;
  for (int i = 0; i < count && stands; i++)
    if (memory_overlap(block * param(reservation_bytes), param(reservation_bytes), writes[i].offset, writes[i].size))
      stands = false;
  return stands;
}

/* All writes of this cycle, in their order: the plain ones by lane, then the others by lane.  `old` gets what a
 * read-modify-write finds, or whether a store_conditional stored.  Returns their number. */
static inline int gather(const self_t *self, const typeof_port(port_request) *const requests[], memory_written *writes, uint64_t *old) {
  int count = 0;
  for (int i = 0; i < width(port); i++) {
    const typeof_port(port_request) *request = requests[i];
    uint32_t offset;
    if (!request || request->op != mem_op_write || !param(writable) || !locate(request, &offset))
      continue;
    writes[count].offset = offset;
    writes[count].size = request->size;
    writes[count].tag = request->tag;
    if (param(width) <= 64) {
      uint64_t number = 0;
      memcpy(&number, &request->data, sizeof request->data < 8 ? sizeof request->data : 8);
      store_number(writes[count].bytes, number, request->size, param(big_endian));
    } else {
      number_to_memory(writes[count].bytes, &request->data, request->size, param(big_endian));
    }
    count++;
  }
  for (int i = 0; i < width(port); i++) {
    const typeof_port(port_request) *request = requests[i];
    uint32_t offset;
    if (!request || reads_only(request->op) || request->op == mem_op_write || !param(writable) || !locate(request, &offset))
      continue;
    if (request->op == mem_op_store_conditional) {
      old[i] = reservation_stands(self, writes, count, request->tag, offset);
      if (!old[i])
        continue;
      number_to_memory(writes[count].bytes, &request->data, request->size, param(big_endian));
    } else {
      uint8_t before[MEMORY_STATE_MAX_BYTES];
      view(self, writes, count, offset, request->size, before);
      unsigned size = request->size < 8 ? request->size : 8;
      uint64_t number = 0, operand = 0;
      memory_to_number(&number, before, size, param(big_endian));
      memcpy(&operand, &request->data, sizeof request->data < 8 ? sizeof request->data : 8);
      old[i] = number;
      number = request->op == mem_op_swap        ? operand
               : request->op == mem_op_fetch_add ? number + operand
               : request->op == mem_op_fetch_and ? (number & operand)
                                                 : (number | operand);
      number_to_memory(writes[count].bytes, &number, size, param(big_endian));
    }
    writes[count].offset = offset;
    writes[count].size = request->size;
    writes[count].tag = request->tag;
    count++;
  }
  return count;
}

/* The answer to one reference, after all writes of the cycle. */
static inline typeof_port(port_reply) reply_to(const self_t *self, const typeof_port(port_request) *request, const memory_written *writes, int count,
                                               uint64_t old) {
  typeof_port(port_reply) reply;
  memset(&reply, 0, sizeof reply);
  reply.tag = request->tag;
  uint32_t offset;
  bool too_wide = request->op >= mem_op_swap && request->op <= mem_op_fetch_or && request->size > 8;
  if (!locate(request, &offset) || too_wide || (!param(writable) && !reads_only(request->op))) {
    reply.error = true;
  } else if (request->op == mem_op_write) {
    /* nothing to tell */
  } else if (reads_only(request->op)) {
    if (param(width) <= 64) {
      uint64_t number;
      if (width(port) == 1 || count == 0) {
        number = load_number(&self->bytes[offset], request->size, param(big_endian));
      } else {
        uint8_t bytes[MEMORY_STATE_MAX_BYTES];
        view(self, writes, count, offset, request->size, bytes);
        number = load_number(bytes, request->size, param(big_endian));
      }
      if (request->sign) {
        int shift = 64 - 8 * request->size;
        number = (uint64_t)((int64_t)(number << shift) >> shift);
      }
      memcpy(&reply.data, &number, sizeof reply.data);
    } else {
      uint8_t bytes[MEMORY_STATE_MAX_BYTES];
      view(self, writes, count, offset, request->size, bytes);
      memory_to_number(&reply.data, bytes, request->size, param(big_endian));
      if (request->sign)
        extend_sign(&reply.data, request->size, param(width) / 8);
    }
  } else {
    memcpy(&reply.data, &old, sizeof reply.data < 8 ? sizeof reply.data : 8);
    if (request->sign && request->op != mem_op_store_conditional)
      extend_sign(&reply.data, request->size, param(width) / 8);
  }
  return reply;
}

/* Takes a reservation for a tag, which has one at a time. */
static inline void reserve(self_t *self, uint32_t tag, uint32_t block) {
  int entry = -1;
  for (int k = 0; k < param(reservations); k++)
    if (self->reserved[k] && self->reserved_tag[k] == tag)
      entry = k;
  for (int k = 0; k < param(reservations) && entry < 0; k++)
    if (!self->reserved[k])
      entry = k;
  if (entry < 0) {
    entry = (int)self->reserve_next;
    self->reserve_next = (self->reserve_next + 1) % param(reservations);
  }
  self->reserved[entry] = true;
  self->reserved_tag[entry] = tag;
  self->reserved_block[entry] = block;
}

/* Copies bytes of a file to their address; what falls outside is an error. */
static void place(self_t *self, uint64_t address, const uint8_t *bytes, uint64_t size) {
  uint64_t offset = address - (uint64_t)param(base);
  if (offset > (uint64_t)param(size) || size > (uint64_t)param(size) - offset)
    sim_error("%s: %llu bytes at 0x%llx do not fit: the memory is 0x%llx to 0x%llx", param(image), (unsigned long long)size,
              (unsigned long long)address, (unsigned long long)param(base), (unsigned long long)(param(base) + param(size) - 1));
  memcpy(&self->bytes[offset], bytes, size);
}

/* Pairs of hexadecimal digits, white space between them, `@` and an address to go on elsewhere, `#` for comments. */
static void place_hex(self_t *self, uint64_t address, char *text) {
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    line[strcspn(line, "#")] = '\0';
    for (char *at = line; *at;) {
      char *end = at;
      if (isspace((unsigned char)*at)) {
        at++;
      } else if (*at == '@') {
        address = strtoull(at + 1, &end, 16);
        if (end == at + 1)
          sim_error("%s: no address behind '%s'", param(image), at);
        at = end;
      } else if (isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1])) {
        char pair[3] = {at[0], at[1], 0};
        uint8_t byte = (uint8_t)strtoul(pair, NULL, 16);
        place(self, address++, &byte, 1);
        at += 2;
      } else {
        sim_error("%s: '%s' is not a pair of hexadecimal digits", param(image), at);
      }
    }
  }
}

static void place_elf(self_t *self, uint8_t *bytes, size_t size) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Program) program = program_parse(param(image), bytes, size, PROGRAM_ELF, &error);
  if (!program)
    sim_error("%s", error->message);
  if (program_big_endian(program) != param(big_endian))
    sim_error("%s: a %s-endian program in a %s-endian memory", param(image), param(big_endian) ? "little" : "big",
              param(big_endian) ? "big" : "little");
  gsize count;
  const ProgramSegment *segments = program_segments(program, &count);
  for (gsize i = 0; i < count; i++)
    place(self, segments[i].address, segments[i].bytes, segments[i].loaded);
}

init() {
  const char *path = param(image);
  if (path[0] == '\0')
    return;
  stream file = {0};
  stream_read_open(&file, path);
  GByteArray *all = g_byte_array_new();
  uint8_t piece[65536];
  for (size_t n; (n = stream_read(&file, piece, sizeof piece)) > 0;)
    g_byte_array_append(all, piece, (guint)n);
  size_t size = all->len;
  g_byte_array_append(all, (const uint8_t *)"", 1);
  uint8_t *bytes = g_byte_array_free(all, FALSE);
  uint64_t address = (uint64_t)(param(image_address) < 0 ? param(base) : param(image_address));
  if (size >= 4 && memcmp(bytes, "\177ELF", 4) == 0) {
    place_elf(self, bytes, size);
    return;
  }
  if (g_str_has_suffix(path, ".hex"))
    place_hex(self, address, (char *)bytes);
  else
    place(self, address, bytes, size);
  g_free(bytes);
}

phase_start() {
  for (int i = 0; i < width(port); i++)
    accept(port_request, i, true);
}

handler(answer) {
  const typeof_port(port_request) *requests[width(port)];
  bool changes = false;
  for (int i = 0; i < width(port); i++) {
    bool live = some(port_request, i) && enabled(port_request, i);
    requests[i] = live ? &data(port_request, i) : NULL;
    changes |= live && !reads_only(data(port_request, i).op);
  }
  memory_written writes[width(port)];
  uint64_t old[width(port)];
  int count = changes ? gather(self, requests, writes, old) : 0;
  for (int i = 0; i < width(port); i++) {
    enable(port_reply, i, true);
    if (requests[i])
      send(port_reply, i, reply_to(self, requests[i], writes, count, old[i]));
    else
      send_nothing(port_reply, i);
  }
  for (int k = 0; k < width(snoop); k++) {
    mem_snoop heard = {0};
    for (int i = 0; i < count; i++) {
      uint32_t address = writes[i].offset + (uint32_t)param(base);
      if (param_length(snoop_ranges) > 0) {
        const mem_range *range = &param(snoop_ranges)[param_length(snoop_ranges) == 1 ? 0 : k];
        if (!memory_overlap(address, writes[i].size, range->base, range->size))
          continue;
      }
      if (heard.size == 0) {
        heard = (mem_snoop){.address = address, .size = writes[i].size, .tag = writes[i].tag};
      } else {
        uint32_t first = address < heard.address ? address : heard.address;
        uint32_t end = address + writes[i].size, heard_end = heard.address + heard.size;
        heard = (mem_snoop){.address = first, .size = (end > heard_end ? end : heard_end) - first, .tag = UINT32_MAX};
      }
    }
    enable(snoop, k, true);
    if (heard.size > 0)
      send(snoop, k, heard);
    else
      send_nothing(snoop, k);
  }
}

phase_end() {
  const typeof_port(port_request) *requests[width(port)];
  bool any = false, changes = false;
  for (int i = 0; i < width(port); i++) {
    bool live = transferred(port_request, i);
    requests[i] = live ? &data(port_request, i) : NULL;
    any |= live;
    changes |= live && data(port_request, i).op != mem_op_read;
  }
  if (!any)
    return;
  for (int i = 0; i < width(port); i++) {
    const typeof_port(port_request) *request = requests[i];
    uint32_t offset;
    if (!request)
      continue;
    if (!acked(port_reply, i))
      sim_error("the answer on lane %d was refused", i);
    if (locate(request, &offset))
      event(access, i, request->op, request->address, request->size);
    else
      event(refused, i, request->op, request->address, request->size);
  }
  if (!changes)
    return;
  memory_written writes[width(port)];
  uint64_t old[width(port)];
  int count = gather(self, requests, writes, old);
  for (int i = 0; i < count; i++) {
    memcpy(&self->bytes[writes[i].offset], writes[i].bytes, writes[i].size);
    for (int k = 0; k < param(reservations); k++)
      if (self->reserved[k] && memory_overlap(self->reserved_block[k] * param(reservation_bytes), param(reservation_bytes), writes[i].offset, writes[i].size))
        self->reserved[k] = false;
  }
  for (int i = 0; i < width(port); i++) {
    uint32_t offset;
    if (requests[i] && requests[i]->op == mem_op_load_linked && locate(requests[i], &offset))
      reserve(self, requests[i]->tag, offset / param(reservation_bytes));
  }
}

next_event() { return never(); }
