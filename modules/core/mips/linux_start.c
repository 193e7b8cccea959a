// linux_start.c: a boot loader and its ROM; see linux_start.lss.
#include <limits.h>

#include "core/mips/linux_start.h"

#include "emulib/program/device_tree.h"
#include "emulib/program/image.h"
#include "emulib/program/linux_banner.h"
#include "memory/memory_access.h"

#define BYTES ((uint32_t)param(width) / 8)

static const char *path_of(const self_t *self, int file) {
  return file == LINUX_KERNEL ? param(kernel) : file == LINUX_TREE ? param(dtb) : param(initramfs);
}

// `loaded` of `size` bytes, which must lie in RAM and where nothing else does.
static void add_piece(self_t *self, int file, uint32_t offset, uint32_t address, uint32_t loaded, uint32_t size) {
  const uint32_t k = self->pieces++;
  const uint64_t end = (uint64_t)address + size;
  if (k == LINUX_PIECES) sim_input_error("%s: more than %d segments to load", path_of(self, file), LINUX_PIECES - 2);
  if (end > (uint64_t)param(memory_size))
    sim_input_error("%s: %u bytes at physical address 0x%08x are not within the %lld MiB of RAM", path_of(self, file),
                    size, address, (long long)param(memory_size) >> 20);
  for (uint32_t i = 0; i < k; i++)
    if (address < (uint64_t)self->piece_address[i] + self->piece_size[i] && self->piece_address[i] < end)
      sim_input_error("%s: %u bytes at physical address 0x%08x overlap those of %s at 0x%08x", path_of(self, file),
                      size, address, path_of(self, self->piece_file[i]), self->piece_address[i]);
  self->piece_file[k] = (uint8_t)file;
  self->piece_offset[k] = offset;
  self->piece_address[k] = address;
  self->piece_size[k] = loaded;
}

// A segment that lies in the ROM, behind the code of the loader; false when it lies elsewhere.
static bool place_in_rom(self_t *self, const uint8_t *bytes, uint32_t address, uint32_t loaded, uint32_t size) {
  const uint32_t at = address - linux_physical((uint32_t)param(reset));
  if (at >= LINUX_ROM_SIZE) return false;
  if (at < 4 * LINUX_CODE || size > LINUX_ROM_SIZE - at)
    sim_input_error("%s: %u bytes at physical address 0x%08x are not within the boot ROM after its first %d bytes",
                    param(kernel), size, address, 4 * LINUX_CODE);
  memcpy(store_span(code, at, size), bytes, loaded);
  return true;
}

static const uint8_t *open_file(self_t *self, int file, size_t *size) {
  stream_read_open(&self->file[file], path_of(self, file));
  const uint8_t *bytes = stream_contents(&self->file[file], size);
  if (file != LINUX_KERNEL && (*size == 0 || *size > (size_t)param(memory_size)))
    sim_input_error("%s: %zu bytes, and the RAM has %lld MiB", path_of(self, file), *size,
                    (long long)param(memory_size) >> 20);
  return bytes;
}

static void open_kernel(self_t *self) {
  size_t size;
  char error[PATH_MAX + 512] = "";
  if (!param(kernel)[0]) sim_input_error("there is no kernel: set `kernel` to its ELF file");
  const uint8_t *bytes = open_file(self, LINUX_KERNEL, &size);
  ProgramImage *image = program_image_open(param(kernel), bytes, size, error, sizeof error);
  if (!image) sim_input_error("%s", error);
  if (!program_image_runs_on(image, param(set), error, sizeof error)) sim_input_error("%s", error);
  if (program_image_big_endian(image) != param(big_endian))
    sim_input_error("%s: a %s-endian program for %s-endian processors", param(kernel),
                    param(big_endian) ? "little" : "big", param(big_endian) ? "big" : "little");
  uint32_t address, loaded, offset, whole;
  const uint8_t *contents;
  for (size_t k = 0; program_image_segment(image, k, &address, &contents, &loaded); k++) {
    program_image_extent(image, k, &offset, &whole);
    address = linux_physical(address);
    if (!place_in_rom(self, contents, address, loaded, whole))
      add_piece(self, LINUX_KERNEL, offset, address, loaded, whole);
  }
  self->entry = program_image_entry(image);
  program_image_free(image);
  if (param(processors) > 1 && linux_banner_kind(bytes, size) == LINUX_FOR_ONE)
    sim_warn("%s: a Linux kernel for one processor, of %d here: the others stay halted (make linux VPES=true makes a "
             "kernel for several)",
             param(kernel), (int)param(processors));
}

// What the kernel would take from the tree must be so: with another clock its time would run at the wrong speed, and
// with more memory, or less of the initramfs, it would not come up.
static void check_tree(self_t *self, const DeviceTree *tree) {
  const uint64_t hz = ticks_per_second() / clock_period(); // as trees are written, a fraction of a hertz is left out
  if (tree->has_clock && tree->clock_hz != hz)
    sim_input_error("%s: made for processors at %llu Hz, these have %llu Hz: make the tree of this machine", param(dtb),
                    (unsigned long long)tree->clock_hz, (unsigned long long)hz);
  if (tree->has_memory && tree->memory_end > (uint64_t)param(memory_size))
    sim_input_error("%s: made for memory up to 0x%llx, the RAM ends at 0x%llx: make the tree of this machine",
                    param(dtb), (unsigned long long)tree->memory_end, (unsigned long long)param(memory_size));
  if (!param(initramfs)[0]) {
    if (tree->has_initramfs)
      sim_input_error("%s: made for an initramfs, and there is none: set `initramfs` to it", param(dtb));
    return;
  }
  size_t size;
  stream_contents(&self->file[LINUX_INITRAMFS], &size);
  if (!tree->has_initramfs)
    sim_input_error("%s: made for a kernel without an initramfs, and %s is given", param(dtb), param(initramfs));
  const uint32_t start = linux_physical((uint32_t)tree->initramfs_start);
  if (start != (uint32_t)param(initramfs_address))
    sim_input_error("%s: the initramfs is at 0x%x in the tree, and at 0x%x in memory", param(dtb), start,
                    (uint32_t)param(initramfs_address));
  if (tree->initramfs_end - tree->initramfs_start < size)
    sim_input_error("%s: made for an initramfs of %llu bytes, %s has %zu: make its tree", param(dtb),
                    (unsigned long long)(tree->initramfs_end - tree->initramfs_start), param(initramfs), size);
}

// Its address in kseg0.
static uint32_t open_tree(self_t *self) {
  size_t size;
  DeviceTree tree;
  const uint8_t *bytes = open_file(self, LINUX_TREE, &size);
  const char *why = device_tree_read(bytes, size, &tree);
  if (why) sim_input_error("%s: no compiled device tree: %s", param(dtb), why);
  check_tree(self, &tree);
  const uint32_t address = (uint32_t)((uint64_t)param(memory_size) - size) & ~(uint32_t)(LINUX_TREE_ALIGNMENT - 1);
  add_piece(self, LINUX_TREE, 0, address, (uint32_t)size, (uint32_t)size);
  return address | 0x80000000;
}

check_state() {
  if (self->piece < self->pieces && self->written > self->piece_size[self->piece])
    sim_error("%u bytes of a segment of %u were loaded", self->written, self->piece_size[self->piece]);
}

// ---- What is written ----
static bool all_written(const self_t *self) {
  return self->piece == self->pieces;
}

static void skip_written(self_t *self) {
  while (!all_written(self) && self->written == self->piece_size[self->piece]) {
    self->piece++;
    self->written = 0;
  }
}

init() {
  open_kernel(self);
  if (param(initramfs)[0]) {
    size_t size;
    open_file(self, LINUX_INITRAMFS, &size);
    add_piece(self, LINUX_INITRAMFS, 0, (uint32_t)param(initramfs_address), (uint32_t)size, (uint32_t)size);
  }
  uint32_t code[LINUX_CODE];
  linux_boot_code(code, self->entry, param(dtb)[0] ? open_tree(self) : 0);
  for (int k = 0; k < LINUX_CODE; k++) number_to_memory(store_span(code, 4 * k, 4), &code[k], 4, param(big_endian));
  skip_written(self);
  self->busy = true;
}

// A restored run reads on in another file, where the pieces are that were found in the first one.
static void check_pieces(const self_t *self, int file) {
  size_t size = 0;
  if (all_written(self)) return;
  if (stream_is_open(&self->file[file])) stream_contents(&self->file[file], &size);
  for (uint32_t k = self->piece; k < self->pieces; k++)
    if (self->piece_file[k] == file && size < (uint64_t)self->piece_offset[k] + self->piece_size[k])
      sim_input_error("\"%s\": %zu bytes, and the run loads bytes %u to %u of it (give it the file that it began with)",
                      path_of(self, file), size, self->piece_offset[k],
                      self->piece_offset[k] + self->piece_size[k] - 1);
}

handler(reset, kernel) {
  check_pieces(self, LINUX_KERNEL);
}

handler(reset, dtb) {
  check_pieces(self, LINUX_TREE);
}

handler(reset, initramfs) {
  check_pieces(self, LINUX_INITRAMFS);
}

static uint32_t next_address(const self_t *self) {
  return self->piece_address[self->piece] + self->written;
}

// The bytes that are next, and their number: up to the end of the piece, or of the aligned `unit` bytes of memory.
static const uint8_t *next_bytes(const self_t *self, uint32_t unit, uint32_t *count) {
  const uint32_t k = self->piece, room = unit - next_address(self) % unit, left = self->piece_size[k] - self->written;
  const uint64_t at = (uint64_t)self->piece_offset[k] + self->written;
  size_t size;
  const uint8_t *bytes = stream_contents(&self->file[self->piece_file[k]], &size);
  *count = left < room ? left : room;
  if (at + *count > size)
    sim_error("%s: %zu bytes, and the run loads bytes from %llu on", path_of(self, self->piece_file[k]), size,
              (unsigned long long)at);
  return bytes + at;
}

static __attribute__((noinline)) typeof_port(memory_request) next_write(const self_t *self) {
  uint32_t count;
  const uint8_t *bytes = next_bytes(self, BYTES, &count);
  typeof_port(memory_request) request = {.op = mem_op_write, .size = (uint8_t)count, .address = next_address(self)};
  memory_to_number(&request.data, bytes, count, param(big_endian));
  return request;
}

static __attribute__((noinline)) mem_block next_block(const self_t *self) {
  mem_block block = {.address = next_address(self)};
  const uint8_t *bytes = next_bytes(self, sizeof block.bytes, &block.size);
  memcpy(block.bytes, bytes, block.size);
  return block;
}

// ---- Signals and time ----
phase_start() {
  if (__builtin_expect(!self->busy, true)) {
    for (int i = 0; i < width(memory_request); i++) send_nothing(memory_request, i);
    for (int i = 0; i < width(contents); i++) send_nothing(contents, i);
    send_nothing(rom_reply);
    for (int i = 0; i < width(control); i++) send_nothing(control, i);
    return;
  }
  const bool writes = !all_written(self);
  for (int i = 0; i < width(memory_request); i++) {
    if (writes)
      send(memory_request, i, next_write(self));
    else
      send_nothing(memory_request, i);
  }
  for (int i = 0; i < width(contents); i++) {
    if (writes)
      send(contents, i, next_block(self));
    else
      send_nothing(contents, i);
  }
  send_if(rom_reply, self->replying, self->reply);
  const bool ready = all_written(self) && self->outstanding == 0;
  const core_control go = {.set_halt = true, .halt = false, .set_pc = true, .pc = (uint32_t)param(reset)};
  for (int i = 0; i < width(control); i++) send_if(control, i, ready && !self->started[i], go);
}

handler(commit) {
  for (int i = 0; i < width(memory_request); i++) enable(memory_request, i, acked(memory_request, i));
}

static void serve_rom(self_t *self, typeof_port(rom_request) request) {
  uint8_t bytes[BYTES];
  self->reply = (typeof_port(rom_reply)){.tag = request.tag};
  self->reply.error = request.op > mem_op_write && request.op < mem_op_barrier;
  if (request.op != mem_op_read) return;
  for (uint32_t k = 0; k < request.size; k++) bytes[k] = load(code, (request.address + k) % LINUX_ROM_SIZE);
  memory_to_number(&self->reply.data, bytes, request.size, param(big_endian));
  if (request.sign) extend_sign(&self->reply.data, request.size, sizeof self->reply.data);
}

static bool all_started(const self_t *self) {
  bool all = true;
  for (int i = 0; i < width(control); i++) all &= self->started[i];
  return all;
}

// Bytes of the piece were accepted.
static void advance(self_t *self, uint32_t size) {
  self->written += size;
  count(loaded, size);
}

phase_end() {
  if (__builtin_expect(!self->busy && !some(rom_request), true)) return;
  self->replied = false;
  for (int i = 0; i < width(memory_reply); i++) {
    if (!transferred(memory_reply, i)) continue;
    self->outstanding--;
    self->replied = true;
    if (data(memory_reply, i).error)
      sim_error("the memory refuses what is loaded: is there as much of it as memory_size?");
  }
  for (int i = 0; i < width(memory_request); i++) {
    if (!transferred(memory_request, i)) continue;
    self->outstanding++;
    advance(self, item(memory_request, i).size);
  }
  for (int i = 0; i < width(contents); i++)
    if (transferred(contents, i)) advance(self, item(contents, i).size);
  skip_written(self);
  for (int i = 0; i < width(control); i++) {
    if (!transferred(control, i)) continue;
    if (!self->started[i] && i == 0) event(started, self->entry);
    self->started[i] = true;
  }
  self->replying = transferred(rom_request);
  if (self->replying) serve_rom(self, data(rom_request));
  self->busy = self->replying || !all_started(self);
}

next_event() {
  const bool starts = !all_started(self) && self->outstanding == 0;
  return unchanged(self->replying || self->replied || !all_written(self) || starts ? cycle() : never());
}

#undef BYTES
