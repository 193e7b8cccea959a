// write_monitor.c: an event for each write of others; see write_monitor.lss.

phase_end() {
  for (int i = 0; i < width(snoop); i++)
    if (transferred(snoop, i) && !call(is_own_write, item(snoop, i).tag))
      event(written, item(snoop, i).address, item(snoop, i).size);
}

next_event() {
  return never();
}
