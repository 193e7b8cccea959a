// Each kind by its words.
phase_end() {
  if (!transferred(instant) || until(ready)) return;
  count(items);
  count(counter[until(due[1]) > 0]);
  note(latest, data(instant));
  note(history, (entry){.word = load(table, 0).word});
  store(bytes[0], 3, self->trace[0]);
  set_until(ready, load(bytes[0], 3));
  set_until(due[0], never());
}
