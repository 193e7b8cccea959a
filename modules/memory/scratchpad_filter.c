// scratchpad_filter.c: separates a core's requests; see scratchpad_filter.lss.
//
// All decisions look at what is requested, never at an acknowledgment.  A channel that waits for a reply from one
// place sends nothing to another, so its replies come back in order and one at a time.

// Bits that a channel's number takes in the tag on a shared port.
#define CHANNEL_BITS (width(in_request) > 1 ? 32 - __builtin_clz(width(in_request) - 1) : 0)

// Whether a channel uses lane `lane` of a port with `lanes` lanes.
#define USES(lanes, lane, channel) ((lanes) == 1 || (lane) == (channel))

static inline int32_t target_of(const self_t *self, uint32_t address) {
  (void)self;
  if (param(mapped)) return call(map, address);
  for (int k = 0; k < param_length(segments); k++)
    if (address - param(segments)[k].base < param(segments)[k].size) return param(segments)[k].target;
  return filter_target_main;
}

// Sends on a port with a lane for each channel, or on a shared one the request of the highest channel that goes there.
#define SEND_ON(port, place)                                                                                           \
  if (width(port) > 1 || CHANNEL_BITS == 0) {                                                                          \
    for (int i = 0; i < width(port); i++) {                                                                            \
      if (goes[i] == (place))                                                                                          \
        send(port, i, item(in_request, i));                                                                            \
      else                                                                                                             \
        send_nothing(port, i);                                                                                         \
    }                                                                                                                  \
  } else if (width(port) == 1) {                                                                                       \
    typeof_port(in_request) request;                                                                                   \
    int channel = -1;                                                                                                  \
    for (int i = 0; i < width(in_request); i++) {                                                                      \
      if (goes[i] == (place)) request = item(in_request, i), channel = i;                                              \
    }                                                                                                                  \
    if (channel >= 0) {                                                                                                \
      request.tag = request.tag << CHANNEL_BITS | (uint32_t)channel;                                                   \
      send(port, 0, request);                                                                                          \
    } else {                                                                                                           \
      send_nothing(port, 0);                                                                                           \
    }                                                                                                                  \
  }

handler(steer) {
  int32_t goes[width(in_request)];
  bool outside = false;          // a higher channel requests something outside
  bool scratchpad_taken = false; // a higher channel has the shared port
  for (int i = width(in_request) - 1; i >= 0; i--) {
    goes[i] = -1;
    if (!some(in_request, i)) continue;
    const bool barrier = data(in_request, i).op == mem_op_barrier;
    int32_t place = barrier ? filter_target_main : target_of(self, data(in_request, i).address);
    if (place == filter_target_registers && width(registers_request) == 0) place = filter_target_main;
    bool in_order = self->in_flight[i] == 0 || self->where[i] == place;
    if (place == filter_target_scratchpad) {
      if (in_order && !(width(scratchpad_request) == 1 && scratchpad_taken)) {
        goes[i] = place;
        scratchpad_taken = true;
      }
    } else {
      if (in_order && !outside) goes[i] = place;
      outside = true;
    }
  }
  for (int i = 0; i < width(in_request); i++) set(target, i, goes[i]);
  SEND_ON(scratchpad_request, filter_target_scratchpad)
  SEND_ON(main_request, filter_target_main)
  SEND_ON(registers_request, filter_target_registers)
}

// Commits on a port what its channel commits, on a shared one the channel that goes there.
#define COMMIT_ON(port, place)                                                                                         \
  if (width(port) > 1 || CHANNEL_BITS == 0) {                                                                          \
    for (int i = 0; i < width(port); i++) enable(port, i, enabled(in_request, i));                                     \
  } else if (width(port) == 1) {                                                                                       \
    bool committed = false;                                                                                            \
    for (int i = 0; i < width(in_request); i++)                                                                        \
      committed = get(target, i) == (place) ? enabled(in_request, i) : committed;                                      \
    enable(port, 0, committed);                                                                                        \
  }

handler(commit){COMMIT_ON(scratchpad_request, filter_target_scratchpad) COMMIT_ON(main_request, filter_target_main)
                    COMMIT_ON(registers_request, filter_target_registers)}

// Adds to `accepted` whether channel i goes to a port and is accepted there.
#define ACCEPT_FROM(port, place)                                                                                       \
  for (int lane = 0; lane < width(port); lane++)                                                                       \
    accepted |= get(target, i) == (place) && USES(width(port), lane, i) && acked(port, lane);

handler(accept) {
  for (int i = 0; i < width(in_request); i++) {
    bool accepted = false;
    ACCEPT_FROM(scratchpad_request, filter_target_scratchpad)
    ACCEPT_FROM(main_request, filter_target_main)
    ACCEPT_FROM(registers_request, filter_target_registers)
    accept(in_request, i, accepted);
  }
}

// The lane of a port from which channel i gets its replies, and whether it gets one there in this cycle.
#define LANE(port, i) (width(port) > 1 ? (i) : 0)
#define SHARED(port)  (CHANNEL_BITS > 0 && width(port) == 1)
#define REPLIES(port, i)                                                                                               \
  ((some(port, LANE(port, i)) & enabled(port, LANE(port, i))) &&                                                       \
   (!SHARED(port) || (data(port, 0).tag & ((1u << CHANNEL_BITS) - 1)) == (uint32_t)(i)))

// Takes the reply of a port over the one found so far.
#define TAKE(port, i)                                                                                                  \
  if (REPLIES(port, i)) {                                                                                              \
    if (__builtin_expect(replied, false)) sim_error("two replies for channel %d in one cycle", i);                     \
    replied = true;                                                                                                    \
    reply = item(port, LANE(port, i));                                                                                 \
    if (SHARED(port)) reply.tag >>= CHANNEL_BITS;                                                                      \
  }

handler(reply) {
  for (int i = 0; i < width(in_request); i++) {
    typeof_port(in_reply) reply;
    bool replied = false;
    TAKE(main_reply, i)
    TAKE(registers_reply, i)
    TAKE(scratchpad_reply, i)
    enable(in_reply, i, true);
    if (replied)
      send(in_reply, i, reply);
    else
      send_nothing(in_reply, i);
  }
}

phase_end() {
  for (int i = 0; i < width(in_request); i++) {
    bool accepted = transferred(in_request, i), replied = some(in_reply, i);
    if (accepted != replied) {
      self->in_flight[i] += accepted ? 1u : ~0u;
      if (accepted) self->where[i] = get(target, i);
    }
    if (accepted)
      event(steered, i, get(target, i), data(in_request, i).address);
    else if (some(in_request, i) && get(target, i) < 0)
      event(blocked, i);
  }
}

next_event() {
  return never();
}
