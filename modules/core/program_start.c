// program_start.c: starts processors at a program's entry; see program_start.lss.
#include <limits.h>

#include "emulib/program/image.h"
#include "memory/image_list.h"

// The entry of a program.
static uint32_t entry_of(self_t *self, const char *path) {
  stream file = {0};
  size_t size = 0;
  char error[PATH_MAX + 512] = "";
  stream_read_open(&file, path);
  const uint8_t *bytes = stream_contents(&file, &size);
  ProgramImage *image = program_image_open(path, bytes, size, error, sizeof error);
  if (!image) sim_error("%s", error);
  if (!program_image_runs_on(image, param(set), error, sizeof error)) sim_input_error("%s", error);
  const uint32_t entry = program_image_entry(image);
  program_image_free(image);
  return entry;
}

init() {
  if (!param(program)[0] && param(entry) < 0)
    sim_input_error(
        "there is no program: set `program` to its ELF file, or `entry` to the address at which the processors start");
  for (int i = 0; i < width(control); i++) {
    char *path = param(several) ? image_list_name(param(program), i) : NULL;
    if (!param(program)[0])
      self->pc[i] = (uint32_t)param(entry);
    else if (i > 0 && !path)
      self->pc[i] = self->pc[0];
    else
      self->pc[i] = entry_of(self, path ? path : param(program));
    free(path);
  }
}

phase_start() {
  for (int i = 0; i < width(control); i++) {
    const core_control go = {.set_halt = true, .halt = false, .set_pc = true, .pc = self->pc[i]};
    send_if(control, i, !self->started[i], go);
  }
}

phase_end() {
  for (int i = 0; i < width(control); i++)
    if (transferred(control, i)) self->started[i] = true;
}

next_event() {
  return never();
}
