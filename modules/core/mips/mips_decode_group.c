// mips_decode_group.c: groups of MIPS words to operations; see mips_decode_group.lss.

#define SET ((enum mips_set)param(set))

static inline const struct mips_group_entry *look_up(uint32_t word) {
  struct mips_group_entry *found = &mips_group_entries[SET][word * MIPS_GROUP_FACTOR >> MIPS_GROUP_SHIFT];
  if (__builtin_expect((found->first.word != word) | (found->count == 0), false)) mips_group_enter(found, SET, word);
  return found;
}

// The predicted pc behind the instruction at place i and, if it is a branch, behind its delay slot.
static inline uint32_t following(const typeof_port(in) * group, uint32_t i) {
  if (i + 2 == group->count) return group->next;
  return i + 1 == group->count && group->delayed ? group->target : group->pc + 4 * i + 8;
}

// Puts an operation at its address.
static inline void place(micro_op *op, const typeof_port(in) * group, uint32_t i) {
  op->pc = group->pc + 4 * i;
  op->next = following(group, i);
  op->history = (uint16_t)group->history;
  op->top = group->top;
  if (operation_relative(op->control)) op->immediate += op->pc;
  if (operation_kind(op->control) == operation_class_jump) op->immediate |= (op->pc + 4) & 0xf0000000u;
}

handler(decode) {
  if (!some(in)) {
    send_nothing(out);
    return;
  }
  typeof_port(out) group;
  const typeof_port(in) *from = &data(in);
  uint32_t n = 0;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= from->count) break;
    const struct mips_group_entry *known = look_up(from->word[i]);
    group.op[n] = known->first;
    if (known->count > 1) mips_group_split(&group.op[n], SET, from->word[i]);
    for (uint32_t k = 0; k < known->count; k++) place(&group.op[n++], from, i);
  }
  group.context = data(in).context;
  group.count = (uint8_t)n;
  for (; n < (uint32_t)(3 * param(width)); n++) group.op[n] = (micro_op){.pc = 0};
  if (__builtin_expect(from->fault, false)) {
    group.count = 1;
    group.op[0] = (micro_op){.pc = from->pc,
                             .next = from->next,
                             .immediate = from->word[0],
                             .control = operation_of_kind(operation_class_none) | operation_of_trap(trap_cause_fetch)};
  }
  send(out, group);
}

phase_end() {
  if (!some(in) || data(in).fault) return;
  for (uint32_t i = 0; i < data(in).count; i++)
    event(decoded, data(in).pc + 4 * i, data(in).word[i], mips_decoded_word(SET, data(in).word[i]).control);
}

next_event() {
  return never();
}
