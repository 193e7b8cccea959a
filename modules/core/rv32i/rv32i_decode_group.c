// rv32i_decode_group.c: groups of RV32I words to instructions; see rv32i_decode_group.lss.

static inline const micro_op *look_up(uint32_t word) {
  micro_op *found = &rv32i_decoded_words[word * RV32I_DECODE_FACTOR >> RV32I_DECODE_SHIFT];
  if (__builtin_expect((found->word != word) | (word == 0), false)) rv32i_decode_word(found, word);
  return found;
}

handler(decode) {
  if (!some(in)) {
    send_nothing(out);
    return;
  }
  typeof_port(out) group;
  const uint32_t n = data(in).count;
  group.context = data(in).context;
  group.count = (uint8_t)n;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= n) break;
    const uint32_t pc = data(in).pc + 4 * i;
    const micro_op *d = look_up(data(in).word[i]);
    micro_op *op = &group.op[i];
    *op = *d;
    op->pc = pc;
    op->next = pc + 4;
    op->immediate = d->immediate + (operation_relative(d->control) ? pc : 0);
    op->history = (uint16_t)data(in).history;
    op->top = data(in).top;
  }
  if (n > 0) group.op[n - 1].next = data(in).next;
  for (uint32_t i = n; i < (uint32_t)param(width); i++) group.op[i] = (micro_op){.pc = 0};
  if (__builtin_expect(data(in).fault, false))
    group.op[0] = (micro_op){.pc = data(in).pc,
                             .next = data(in).next,
                             .control = operation_of_kind(operation_class_none) | operation_of_trap(trap_cause_fetch)};
  send(out, group);
}
