// program_start.c: starts processors at a program's entry; see program_start.lss.
#include "emulib/program/image.h"

init() {
  self->pc = (uint32_t)param(entry);
  if (!param(program)[0] && param(entry) < 0)
    sim_input_error("there is no program: give its ELF file, or the address at which the processors start, %s.entry",
                    path_of_self());
  if (!param(program)[0]) return;
  stream file = {0};
  size_t size = 0;
  char error[512] = "";
  stream_read_open(&file, param(program));
  const uint8_t *bytes = stream_contents(&file, &size);
  ProgramImage *image = program_image_open(param(program), bytes, size, error, sizeof error);
  if (!image) sim_error("%s", error);
  if (!program_image_runs_on(image, param(set), error, sizeof error)) sim_input_error("%s", error);
  self->pc = program_image_entry(image);
  program_image_free(image);
}

phase_start() {
  core_control go = {.set_halt = true, .halt = false, .set_pc = true, .pc = self->pc};
  for (int i = 0; i < width(control); i++) send_if(control, i, !self->started[i], go);
}

phase_end() {
  for (int i = 0; i < width(control); i++)
    if (transferred(control, i)) self->started[i] = true;
}

next_event() {
  return never();
}
