// predictor.c: finds the first branch of a group that is taken; see predictor.lss.

handler(ask_targets, i) {
  const target_query query = {.pc = data(port_query, i).pc, .context = data(port_query, i).context};
  send_if(targets_query, i, some(port_query, i) && enabled(port_query, i), query);
}

handler(ask_directions, i) {
  const uint32_t conditional = data(targets_known, i).conditional;
  const direction_query query = {
      .pc = data(port_query, i).pc, .history = data(port_query, i).history, .requested = conditional};
  send_if(directions_query, i, some(targets_known, i) && conditional != 0, query);
}

handler(guess, i) {
  stack_move moves = {.push = false};
  if (!some(targets_known, i)) {
    send_nothing(port_guess, i);
    set(moved, i, moves);
    return;
  }
  const branch_query *query = &data(port_query, i);
  const stack_top *stack = &data(stack, width(stack) > 1 ? query->context : 0);
  const uint32_t pc = query->pc, in_group = pc >> 2 & (uint32_t)(param(width) - 1);
  uint32_t words = param(aligned) ? (uint32_t)param(width) - in_group : (uint32_t)param(width);
  if (width(port_query) > 1 && words > query->words) words = query->words;
  branch_guess g = {.count = (uint8_t)words, .top = stack->top, .history = query->history, .next = pc + 4 * words};
  uint32_t last = words - 1;
  const uint32_t conditional = data(targets_known, i).conditional & (1u << words) - 1;
  const uint32_t taken =
      (conditional & data(directions_taken, i)) | (data(targets_known, i).unconditional & (1u << words) - 1);
  if (taken) {
    last = (uint32_t)__builtin_ctz(taken);
    const branch_kind kind = data(targets_known, i).kind[last];
    const uint32_t target =
        kind == branch_kind_subroutine_return ? stack->address : data(targets_known, i).target[last];
    g.delayed = param(delay_slot) && last + 1 == words;
    if (g.delayed) {
      g.target = target;
    } else {
      g.count = (uint8_t)(last + 1 + param(delay_slot));
      g.next = target;
    }
    moves = (stack_move){.push = kind == branch_kind_call,
                         .pop = kind == branch_kind_subroutine_return,
                         .context = query->context,
                         .link = pc + 4 * last + (param(delay_slot) ? 8 : 4)};
  }
  if (conditional & (2u << last) - 1) g.history = g.history << 1 | (taken & conditional & -taken ? 1 : 0);
  send(port_guess, i, g);
  set(moved, i, moves);
}

handler(move, i) {
  const stack_move none = {.push = false};
  send(move, i, data(port_fetched, i) ? get(moved, i) : none);
}
