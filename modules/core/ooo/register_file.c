// register_file.c: the values of physical registers; see register_file.lss.

init() {
  for (int c = 0; param(numbered) > 0 && c < param(contexts); c++)
    self->value[c * (param(logical) - 1) + param(numbered)] = (uint32_t)c;
}

handler(read, i) {
  const typeof_port(port_numbers) *from = &data(port_numbers, i);
  if (!some(port_numbers, i)) {
    send_nothing(port_values, i);
    return;
  }
  typeof_port(port_values) values;
  for (int k = 0; k < param(sources); k++) values.of[k] = self->value[from->of[k]];
  send(port_values, i, values);
}

// Register 0 is written, too, by who has nothing to write, and set right behind that: that costs less than to ask.
phase_end() {
  uint32_t any = 0;
  for (int i = 0; i < width(write); i++) {
    const uint32_t dest = data(write, i).dest;
    self->value[dest] = data(write, i).value;
    any |= dest;
  }
  self->value[0] = 0;
  self->moved = any != 0;
}

next_event() {
  return self->moved ? cycle() : never();
}
