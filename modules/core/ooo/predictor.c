/* predictor.c: finds the first branch of a group that is taken; see predictor.lss. */

handler(ask_targets) {
  send_if(targets_query, some(port_query) && enabled(port_query), data(port_query).pc);
}

handler(ask_directions) {
  const uint32_t conditional = data(targets_known).conditional;
  const direction_query query = {
      .pc = data(port_query).pc, .history = data(port_query).history, .requested = conditional};
  send_if(directions_query, some(targets_known) && conditional != 0, query);
}

handler(guess) {
  stack_move moves = {.push = false};
  if (!some(targets_known)) {
    send_nothing(port_guess);
    send(move, moves);
    return;
  }
  const uint32_t pc = data(port_query).pc, in_group = pc >> 2 & (uint32_t)(param(width) - 1);
  const uint32_t words = param(aligned) ? (uint32_t)param(width) - in_group : (uint32_t)param(width);
  branch_guess g = {
      .count = (uint8_t)words, .top = data(stack).top, .history = data(port_query).history, .next = pc + 4 * words};
  uint32_t last = words - 1;
  const uint32_t conditional = data(targets_known).conditional & (1u << words) - 1;
  const uint32_t taken =
      (conditional & data(directions_taken)) | (data(targets_known).unconditional & (1u << words) - 1);
  if (taken) {
    last = (uint32_t)__builtin_ctz(taken);
    const branch_kind kind = data(targets_known).kind[last];
    const uint32_t target =
        kind == branch_kind_subroutine_return ? data(stack).address : data(targets_known).target[last];
    g.delayed = param(delay_slot) && last + 1 == words;
    if (g.delayed) {
      g.target = target;
    } else {
      g.count = (uint8_t)(last + 1 + param(delay_slot));
      g.next = target;
    }
    moves = (stack_move){.push = kind == branch_kind_call,
                         .pop = kind == branch_kind_subroutine_return,
                         .link = pc + 4 * last + (param(delay_slot) ? 8 : 4)};
  }
  if (conditional & (2u << last) - 1) g.history = g.history << 1 | (taken & conditional & -taken ? 1 : 0);
  send(port_guess, g);
  send(move, moves);
}
