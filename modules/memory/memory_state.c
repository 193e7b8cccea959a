// memory_state.c: bytes behind memory ports; see memory_state.lss.
#include <ctype.h>
#include <limits.h>

#include "emulib/program/image.h"
#include "memory/image_list.h"
#include "memory/memory_access.h"

// Where a request falls; false when nothing responds there.
static inline bool locate(uint32_t address, uint32_t size, uint32_t *offset) {
  uint32_t at = address - (uint32_t)param(base);
  if (param(alias)) at &= (uint32_t)(param(size) - 1);
  *offset = at;
  return size - 1 < (uint32_t)param(width) / 8 && (uint64_t)at + size <= (uint64_t)param(size);
}

// Operations to which every memory replies quickly; the others, and writes to wide ports at the same time as other
// requests, go through the general functions below.
static inline bool is_plain(mem_op op) {
  return op == mem_op_read || op == mem_op_write;
}

static inline bool modifies(mem_op op) {
  return !memory_only_reads(op) && op != mem_op_write && op < mem_op_barrier;
}

// What a read of a wide port finds at `offset`, into a value that is zero.
static inline void read_wide(const self_t *self, void *value, uint32_t offset, uint32_t size) {
  const uint32_t all = (uint32_t)param(width) / 8;
  if (size == all)
    memory_to_number(value, load_span(bytes, offset, all), all, param(big_endian));
  else
    memory_to_number(value, load_span(bytes, offset, size), size, param(big_endian));
}

// The bytes at `offset` as they are after the first `count` writes of this cycle.
static void view(const self_t *self, const memory_written *writes, int count, uint32_t offset, uint32_t size,
                 uint8_t *bytes) {
  memcpy(bytes, load_span(bytes, offset, size), size);
  for (int i = 0; i < count; i++) {
    if (!memory_overlap(offset, size, writes[i].offset, writes[i].size)) continue;
    for (uint32_t k = 0; k < writes[i].size; k++) {
      uint32_t at = writes[i].offset + k - offset;
      if (at < size) bytes[at] = writes[i].bytes[k];
    }
  }
}

// Whether the store_conditional of a tag may store: its reservation is valid, and no write of this cycle came before.
static bool reservation_valid(const self_t *self, const memory_written *writes, int count, uint32_t tag,
                              uint32_t offset) {
  uint32_t block = offset / (uint32_t)param(reservation_size);
  bool valid = false;
  for (int k = 0; k < param(reservations); k++)
    valid |= self->reserved[k] && self->reserved_tag[k] == tag && self->reserved_block[k] == block;
  for (int i = 0; i < count && valid; i++)
    if (memory_overlap(block * (uint32_t)param(reservation_size), (uint32_t)param(reservation_size), writes[i].offset,
                       writes[i].size))
      valid = false;
  return valid;
}

// All writes of this cycle, in their order: the plain ones by lane, then the others by lane.  `live[i]` says which
// requests there are; `old` gets what a read-modify-write finds, or whether a store_conditional stored.  Returns
// their number.
static int gather(const self_t *self, const typeof_port(port_request) * requests, const bool *live,
                  memory_written *writes, uint64_t *old) {
  int count = 0;
  for (int i = 0; i < width(port_request); i++) {
    const typeof_port(port_request) *request = &requests[i];
    uint32_t offset;
    old[i] = 0;
    if (!live[i] || request->op != mem_op_write || !param(writable) ||
        !locate(request->address, request->size, &offset))
      continue;
    number_to_memory(writes[count].bytes, &request->data, request->size, param(big_endian));
    writes[count].offset = offset;
    writes[count].size = request->size;
    writes[count].tag = request->tag;
    count++;
  }
  for (int i = 0; i < width(port_request); i++) {
    const typeof_port(port_request) *request = &requests[i];
    uint32_t offset;
    if (!live[i] || !modifies(request->op) || !param(writable) || !locate(request->address, request->size, &offset))
      continue;
    if (request->op == mem_op_store_conditional) {
      old[i] = reservation_valid(self, writes, count, request->tag, offset);
      if (!old[i]) continue;
      number_to_memory(writes[count].bytes, &request->data, request->size, param(big_endian));
    } else {
      if (request->size > 8) continue;
      uint8_t before[MEMORY_STATE_MAX_BYTES];
      view(self, writes, count, offset, request->size, before);
      uint64_t number = 0, operand = 0;
      memory_to_number(&number, before, request->size, param(big_endian));
      memcpy(&operand, &request->data, sizeof request->data < 8 ? sizeof request->data : 8);
      old[i] = request->op == mem_op_take_run ? memory_run_of_ones(number, operand, request->size) : number;
      number = memory_modified(request->op, number, operand, request->size);
      number_to_memory(writes[count].bytes, &number, request->size, param(big_endian));
    }
    writes[count].offset = offset;
    writes[count].size = request->size;
    writes[count].tag = request->tag;
    count++;
  }
  return count;
}

// The reply to one request, after all writes of the cycle.
static typeof_port(port_reply) reply_to(const self_t *self, const typeof_port(port_request) * request,
                                        const memory_written *writes, int count, uint64_t old) {
  typeof_port(port_reply) reply;
  memset(&reply, 0, sizeof reply);
  reply.tag = request->tag;
  if (request->op >= mem_op_barrier) return reply; // all that came before was done in its own cycle
  uint32_t offset;
  bool numeric = request->op != mem_op_store_conditional && modifies(request->op);
  bool too_wide = numeric && request->size > 8;
  if (!locate(request->address, request->size, &offset) || too_wide ||
      (!param(writable) && !memory_only_reads(request->op))) {
    reply.error = true;
  } else if (memory_only_reads(request->op)) {
    uint8_t bytes[MEMORY_STATE_MAX_BYTES];
    view(self, writes, count, offset, request->size, bytes);
    memory_to_number(&reply.data, bytes, request->size, param(big_endian));
    if (request->sign) extend_sign(&reply.data, request->size, sizeof reply.data);
  } else if (request->op != mem_op_write) {
    memcpy(&reply.data, &old, sizeof reply.data < 8 ? sizeof reply.data : 8);
    if (request->sign && numeric && request->op != mem_op_take_run)
      extend_sign(&reply.data, request->size, sizeof reply.data);
  }
  return reply;
}

// Takes a reservation for a tag, which has one at a time.
static void reserve(self_t *self, uint32_t tag, uint32_t block) {
  int entry = -1;
  for (int k = 0; k < param(reservations); k++)
    if (self->reserved[k] && self->reserved_tag[k] == tag) entry = k;
  for (int k = 0; k < param(reservations) && entry < 0; k++)
    if (!self->reserved[k]) entry = k;
  if (entry < 0) {
    entry = (int)self->reserve_next;
    count(evictions);
    self->reserve_next = (self->reserve_next + 1) % param(reservations);
  }
  self->held += !self->reserved[entry];
  self->reserved[entry] = true;
  self->reserved_tag[entry] = tag;
  self->reserved_block[entry] = block;
}

// Copies bytes of a file to their address; what falls outside is an error.
static void place(self_t *self, const struct memory_image *image, uint64_t address, const uint8_t *bytes,
                  uint64_t size) {
  const uint64_t offset = address - (uint64_t)param(base), all = (uint64_t)(param(size) / param(windows));
  if (offset > all || size > all - offset)
    sim_input_error("%s: %llu bytes at 0x%llx do not fit: the memory is 0x%llx to 0x%llx", image->path,
                    (unsigned long long)size, (unsigned long long)address, (unsigned long long)param(base),
                    (unsigned long long)((uint64_t)param(base) + all - 1));
  memcpy(store_span(bytes, image->window + offset, size), bytes, size);
}

static inline unsigned hex_digit(char c) {
  return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

// Pairs of hexadecimal digits, white space between them, `@` and an address to continue elsewhere, `#` for comments.
static void place_hex(self_t *self, const struct memory_image *image, uint64_t address, const char *text, size_t size) {
  for (size_t at = 0; at < size;) {
    if (isspace((unsigned char)text[at])) {
      at++;
    } else if (text[at] == '#') {
      while (at < size && text[at] != '\n') at++;
    } else if (text[at] == '@') {
      size_t first = ++at;
      for (address = 0; at < size && isxdigit((unsigned char)text[at]); at++)
        address = address >> 32 ? address : address << 4 | hex_digit(text[at]); // more than 32 bits fit nowhere
      if (at == first) sim_input_error("%s: no address after '@' at byte %zu", image->path, first);
    } else if (at + 1 < size && isxdigit((unsigned char)text[at]) && isxdigit((unsigned char)text[at + 1])) {
      uint8_t byte = (uint8_t)(hex_digit(text[at]) << 4 | hex_digit(text[at + 1]));
      place(self, image, address++, &byte, 1);
      at += 2;
    } else {
      sim_input_error("%s: '%.2s' at byte %zu is not a pair of hexadecimal digits", image->path, text + at, at + 1);
    }
  }
}

static void place_elf(self_t *self, const struct memory_image *image, const uint8_t *bytes, size_t size) {
  char error[PATH_MAX + 512];
  ProgramImage *program = program_image_open(image->path, bytes, size, error, sizeof error);
  if (!program) sim_input_error("%s", error);
  if (program_image_big_endian(program) != param(big_endian))
    sim_input_error("%s: a %s-endian program in a %s-endian memory", image->path, param(big_endian) ? "little" : "big",
                    param(big_endian) ? "big" : "little");
  uint32_t address, loaded;
  const uint8_t *contents;
  for (size_t i = 0; program_image_segment(program, i, &address, &contents, &loaded); i++)
    place(self, image, address, contents, loaded);
  program_image_free(program);
}

static void place_file(self_t *self, const struct memory_image *image) {
  stream file = {0};
  stream_read_open(&file, image->path);
  size_t size, length = strlen(image->path);
  const uint8_t *bytes = stream_contents(&file, &size);
  const uint64_t address = (uint64_t)(param(image_address) < 0 ? param(base) : param(image_address));
  if (size >= 4 && memcmp(bytes, "\177ELF", 4) == 0)
    place_elf(self, image, bytes, size);
  else if (length > 4 && strcmp(image->path + length - 4, ".hex") == 0)
    place_hex(self, image, address, (const char *)bytes, size);
  else
    place(self, image, address, bytes, size);
}

init() {
  if (param(image)[0] == '\0') return;
  for (int w = 0; w < param(windows); w++) {
    char *path = param(windows) > 1 ? image_list_name(param(image), w) : NULL;
    const uint64_t window = (uint64_t)w * (uint64_t)(param(size) / param(windows));
    place_file(self, &(struct memory_image){path ? path : param(image), window});
    free(path);
  }
}

// Ends the reservations that a write touches.
static void end_reservations(self_t *self, uint32_t offset, uint32_t size) {
  const uint32_t covers = (uint32_t)param(reservation_size);
  for (int k = 0; k < param(reservations); k++) {
    if (self->reserved[k] && memory_overlap(self->reserved_block[k] * covers, covers, offset, size)) {
      self->reserved[k] = false;
      self->held--;
    }
  }
}

// Adds a write to what a lane of `snoop` carries in this cycle; several are merged into the stretch that covers them.
static inline mem_snoop snoop_merge(mem_snoop snooped, int lane, uint32_t offset, uint32_t size, uint32_t tag) {
  uint32_t address = offset + (uint32_t)param(base);
  (void)lane; // without ranges
  if (param_length(snoop_ranges) > 0) {
    const mem_range *range = &param(snoop_ranges)[param_length(snoop_ranges) == 1 ? 0 : lane];
    // The range may end with the address space, where sums of 32 bits are 0.
    if (range->base - address >= size && address - range->base >= range->size) return snooped;
  }
  if (snooped.size == 0) return (mem_snoop){.address = address, .size = size, .tag = tag};
  uint32_t first = address < snooped.address ? address : snooped.address;
  uint32_t last = address + size - 1, snooped_last = snooped.address + snooped.size - 1;
  return (mem_snoop){
      .address = first, .size = (last > snooped_last ? last : snooped_last) - first + 1, .tag = UINT32_MAX};
}

// The number that a read of `size` bytes finds where another port writes, in the same cycle, at the offset `at`.
static inline uint64_t with_write(uint64_t number, uint32_t offset, uint32_t size,
                                  const typeof_port(port_request) * write, uint32_t at) {
  const uint64_t written = low_number(&write->data, sizeof write->data);
  if (offset == at && size == write->size) return written & (~UINT64_C(0) >> ((64 - 8 * size) & 63));
  return memory_merge(number, offset, size, written, at, write->size, param(big_endian));
}

handler(reply) {
  bool simple = true, any = false, several = false, stores = false;
  for (int i = 0; i < width(port_request); i++) {
    several = several || (any && some(port_request, i));
    any = any || some(port_request, i);
    simple = simple && (!some(port_request, i) || is_plain(item(port_request, i).op));
    stores = stores || (some(port_request, i) && item(port_request, i).op == mem_op_write);
  }
  if (param(width) > 64 && stores && several) simple = false;
  if (!any) {
    for (int i = 0; i < width(port_request); i++) send_nothing(port_reply, i);
    for (int k = 0; k < width(snoop); k++) send_nothing(snoop, k);
    return;
  }

  if (!simple) {
    typeof_port(port_request) requests[width(port_request)];
    bool live[width(port_request)];
    memory_written writes[width(port_request)];
    uint64_t old[width(port_request)];
    for (int i = 0; i < width(port_request); i++) {
      live[i] = some(port_request, i) && enabled(port_request, i);
      if (live[i]) requests[i] = item(port_request, i);
    }
    int count = gather(self, requests, live, writes, old);
    for (int i = 0; i < width(port_request); i++) {
      if (live[i])
        send(port_reply, i, reply_to(self, &requests[i], writes, count, old[i]));
      else
        send_nothing(port_reply, i);
    }
    for (int k = 0; k < width(snoop); k++) {
      mem_snoop snooped = {0};
      for (int i = 0; i < count; i++)
        snooped = snoop_merge(snooped, k, writes[i].offset, writes[i].size, writes[i].tag);
      send_if(snoop, k, snooped.size > 0, snooped);
    }
    return;
  }

  uint32_t offset[width(port_request)];
  bool writes[width(port_request)];
  for (int i = 0; i < width(port_request); i++)
    writes[i] = some(port_request, i) && item(port_request, i).op == mem_op_write && param(writable) &&
                enabled(port_request, i) &&
                locate(item(port_request, i).address, item(port_request, i).size, &offset[i]);
  for (int i = 0; i < width(port_request); i++) {
    if (!some(port_request, i) || !enabled(port_request, i)) {
      send_nothing(port_reply, i);
      continue;
    }
    typeof_port(port_reply) reply = {0};
    const bool sign = item(port_request, i).sign;
    const uint32_t size = item(port_request, i).size;
    reply.tag = item(port_request, i).tag;
    if (item(port_request, i).op != mem_op_read) {
      reply.error = !writes[i];
    } else if (__builtin_expect(!locate(item(port_request, i).address, size, &offset[i]), 0)) {
      reply.error = true;
    } else if (param(width) > 64) {
      read_wide(self, &reply.data, offset[i], size);
      if (sign) extend_sign(&reply.data, size, sizeof reply.data);
    } else {
      uint64_t number = load_padded(load_span(bytes, offset[i], 8), size, param(big_endian), sign);
      for (int k = 0; k < width(port_request); k++) {
        if (k == i || !writes[k] || !memory_overlap(offset[i], size, offset[k], item(port_request, k).size)) continue;
        number = sign_extended(with_write(number, offset[i], size, &item(port_request, k), offset[k]), size, sign);
      }
      memcpy(&reply.data, &number, sizeof reply.data < 8 ? sizeof reply.data : 8);
    }
    send(port_reply, i, reply);
  }
  for (int k = 0; k < width(snoop); k++) {
    mem_snoop snooped = {0};
    for (int i = 0; i < width(port_request); i++)
      if (writes[i])
        snooped = snoop_merge(snooped, k, offset[i], item(port_request, i).size, item(port_request, i).tag);
    send_if(snoop, k, snooped.size > 0, snooped);
  }
}

// The end of a cycle in which something other than plain reads and writes happened.
static void carry_out(self_t *self, const typeof_port(port_request) * requests, const bool *live) {
  memory_written writes[width(port_request)];
  uint64_t old[width(port_request)];
  int count = gather(self, requests, live, writes, old);
  for (int i = 0; i < count; i++) {
    memcpy(store_span(bytes, writes[i].offset, writes[i].size), writes[i].bytes, writes[i].size);
    if (self->held > 0) end_reservations(self, writes[i].offset, writes[i].size);
  }
  for (int i = 0; i < width(port_request); i++) {
    uint32_t offset;
    if (live[i] && requests[i].op == mem_op_load_linked && locate(requests[i].address, requests[i].size, &offset))
      reserve(self, requests[i].tag, offset / (uint32_t)param(reservation_size));
  }
}

// A block of contents, all of which must be in this memory.
static __attribute__((noinline)) void store_block(self_t *self, const mem_block *block) {
  uint32_t at = block->address - (uint32_t)param(base);
  if (param(alias)) at &= (uint32_t)(param(size) - 1);
  if (block->size > sizeof block->bytes || (uint64_t)at + block->size > (uint64_t)param(size))
    sim_error("%u bytes of contents at 0x%x do not fit: the memory is 0x%llx to 0x%llx (make it larger)", block->size,
              block->address, (unsigned long long)param(base), (unsigned long long)(param(base) + param(size) - 1));
  memcpy(store_span(bytes, at, block->size), block->bytes, block->size);
  if (self->held > 0) end_reservations(self, at, block->size);
  event(loaded, block->address, block->size);
}

phase_end() {
  bool reads = true, plain = true;
  for (int i = 0; i < width(port_request); i++) {
    if (!some(port_request, i) || !transferred(port_request, i)) continue;
    const mem_op op = item(port_request, i).op;
    reads = reads && op == mem_op_read;
    plain = plain && is_plain(op);
    if (!acked(port_reply, i)) sim_error("the reply on lane %d was refused", i);
    if (op >= mem_op_barrier) continue;
    if (data(port_reply, i).error)
      event(refused, i, op, item(port_request, i).address, item(port_request, i).size);
    else
      event(access, i, op, item(port_request, i).address, item(port_request, i).size);
  }
  bool loaded = false;
  for (int i = 0; i < width(contents); i++) loaded = loaded || transferred(contents, i);
  if (reads && !loaded) return;
  if (!plain || __builtin_expect(loaded, false)) {
    typeof_port(port_request) requests[width(port_request)];
    bool live[width(port_request)];
    for (int i = 0; i < width(port_request); i++) {
      live[i] = transferred(port_request, i);
      if (live[i]) requests[i] = item(port_request, i);
    }
    carry_out(self, requests, live);
    for (int i = 0; i < width(contents); i++)
      if (loaded) store_block(self, &data(contents, i));
    return;
  }
  for (int i = 0; i < width(port_request); i++) {
    if (!transferred(port_request, i) || item(port_request, i).op != mem_op_write || !param(writable)) continue;
    uint32_t offset;
    const uint32_t size = item(port_request, i).size;
    if (!locate(item(port_request, i).address, size, &offset)) continue;
    if (param(width) <= 64)
      store_number(store_span(bytes, offset, size),
                   low_number(&item(port_request, i).data, sizeof item(port_request, i).data), size, param(big_endian));
    else
      number_to_memory(store_span(bytes, offset, size), &item(port_request, i).data, size, param(big_endian));
    if (self->held > 0) end_reservations(self, offset, size);
  }
}

next_event() {
  return unchanged(never());
}
