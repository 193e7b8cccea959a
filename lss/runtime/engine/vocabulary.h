// The words in which modules are written (docs/module_reference.md).  They are bound to the ports, parameters and
// functions of a module by the definitions that the compiler emits before the module's file: SP_data_in for data(in),
// and so on.
#define SP_LANE(...)       SP_LANE_##__VA_OPT__(GIVEN)(__VA_ARGS__)
#define SP_LANE_()         (0)
#define SP_LANE_GIVEN(...) (__VA_ARGS__)

// What is no behaviour has names of its own, so that it is reached by the words of its kind alone.
#define SP_ONE(...)       SP_ONE_##__VA_OPT__(GIVEN)(__VA_ARGS__)
#define SP_ONE_()         1
#define SP_ONE_GIVEN(...) (__VA_ARGS__)

// In next_event, whose context alone has the member.
#define SP_UNCHANGED_()           spinach_waits(&ctx->unchanged)
#define SP_UNCHANGED_UNTIL(cycle) (cycle)

// What becomes of counters, traces and memories; a step that is to be repeated later defines it otherwise.
#define SP_COUNT(counter, n)         ((void)((counter) += (n)))
#define SP_COUNT_CYCLES(counter, on) ((void)((counter) += (on) ? -spinach_time.cycle : spinach_time.cycle))
#define SP_REPORT(counter, v)        ((void)((counter) = (v)))
#define SP_NOTE(value, ...)          ((void)((value) = (__VA_ARGS__)))
#define SP_NOTE_IN(all, state, ...)                                                                                    \
  ({                                                                                                                   \
    const __typeof__(*(all)) spinach_noted = (__VA_ARGS__);                                                            \
    spinach_ring_note(&(state).ring, (all), sizeof(all) / sizeof *(all), sizeof *(all), &spinach_noted);               \
  })
#define SP_NOTE_RING(all, state, ...) ((void)SP_NOTE_IN(all, state, __VA_ARGS__))
// And of questions about time; a step that is tracked for a loop defines them otherwise.
#define SP_UNTIL(instant)       spinach_until(instant)
#define SP_WITHIN(instant, k)   ((instant) <= spinach_time.cycle + (k))
#define SP_PASSED(stamp, k)     spinach_passed((stamp), (k), SP_stamp_now)
#define SP_ELAPSED(stamp)       (SP_stamp_now - (stamp))
#define SP_DUE(instant)         (spinach_time.now >= (instant))
#define SP_IS_CYCLE(c)          (spinach_time.cycle == (c))
#define SP_CYCLE_MODULO(n)      (spinach_time.cycle % (uint64_t)(n))
#define SP_TIME                 spinach_time
#define SP_AFTER(k)             spinach_after(k)
#define SP_LOAD(array, i)       ((array)[i])
#define SP_STORE(array, i, ...) ((void)((array)[i] = (__VA_ARGS__)))
#if __has_feature(undefined_behavior_sanitizer) // indices are checked, so that behind a span's last element is as well
#define SP_SPAN(array, i, n)                                                                                           \
  ({                                                                                                                   \
    const int64_t spinach_first = (int64_t)(i), spinach_count = (int64_t)(n);                                          \
    if (spinach_count > 0) (void)&(array)[spinach_first + spinach_count];                                              \
    &(array)[spinach_first];                                                                                           \
  })
#else
#define SP_SPAN(array, i, n) (&(array)[i])
#endif
// What is read may end 8 bytes behind the memory.
#define SP_LOAD_SPAN(array, i, n)                                                                                      \
  ((const __typeof__(*(array)) *)SP_SPAN(array, i, (int64_t)(n) - (int64_t)(8 / sizeof *(array))))
#define SP_STORE_SPAN(array, i, n) SP_SPAN(array, i, n)

// A flight (flight.h) and its name; SP_cut are the ticks that an item takes at least.
#define SP_FLIGHT_SLOTS(f) ((uint32_t)(sizeof(f).arrives / sizeof *(f).arrives))
#define SP_FLIGHT_SEND(f, name, least, ticks, ...)                                                                     \
  do {                                                                                                                 \
    const uint64_t spinach_ticks = (ticks);                                                                            \
    const uint32_t spinach_slot =                                                                                      \
        spinach_flight_add(&(f).places, SP_FLIGHT_SLOTS(f), self->spinach_id, name, spinach_ticks, (least));           \
    (f).arrives[spinach_slot] = spinach_stamp(SP_stamp_now, spinach_ticks);                                            \
    (f).item[spinach_slot] = (__VA_ARGS__);                                                                            \
  } while (0)
// The same from the half of a crossing whose other half is in another simulator.
#define SP_LINK_SEND(f, number, ticks, ...)                                                                            \
  do {                                                                                                                 \
    const uint64_t spinach_instant = spinach_stamp(SP_stamp_now, (ticks));                                             \
    const __typeof__((f).item[0]) spinach_sent = (__VA_ARGS__);                                                        \
    spinach_link_send(spinach_link_of[self->spinach_id] + (number), spinach_instant, &spinach_sent);                   \
  } while (0)
#define SP_FLIGHT_DUE(f, k) ((f).places.held && SP_PASSED((f).arrives[(f).places.head], k))
#define SP_FLIGHT_ITEM(f)   (*(const __typeof__((f).item[0]) *)&(f).item[(f).places.head])
#define SP_FLIGHT_NEXT(f)                                                                                              \
  ((f).places.held ? spinach_until_passed((f).arrives[(f).places.head], 0, SP_stamp_now) : UINT64_MAX)
#define SP_FLIGHT_DROP(f, name) spinach_flight_drop(&(f).places, SP_FLIGHT_SLOTS(f), self->spinach_id, name)

#define some(p, ...)    SP_some_##p(SP_LANE(__VA_ARGS__))
#define data(p, ...)    SP_data_##p(SP_LANE(__VA_ARGS__))
#define item(p, ...)    SP_item_##p(SP_LANE(__VA_ARGS__))
#define enabled(p, ...) SP_enabled_##p(SP_LANE(__VA_ARGS__))
#define acked(p, ...)   SP_acked_##p(SP_LANE(__VA_ARGS__))
#define transferred(p, ...)                                                                                            \
  ((bool)(SP_some_##p(SP_LANE(__VA_ARGS__)) & SP_enabled_##p(SP_LANE(__VA_ARGS__)) &                                   \
          SP_acked_##p(SP_LANE(__VA_ARGS__))))
#define send(p, ...)               SP_send_##p(__VA_ARGS__)
#define send_if(p, ...)            SP_send_if_##p(__VA_ARGS__)
#define send_nothing(p, ...)       SP_send_nothing_##p(__VA_ARGS__)
#define enable(p, ...)             SP_enable_##p(__VA_ARGS__)
#define accept(p, ...)             SP_accept_##p(__VA_ARGS__)
#define count(f, ...)              SP_COUNT(self->spinach_counted_##f, SP_ONE(__VA_ARGS__))
#define count_cycles(f, on)        SP_COUNT_CYCLES(self->spinach_counted_##f, on)
#define report(f, v)               SP_REPORT(self->spinach_counted_##f, v)
#define counted(f)                 (self->spinach_counted_##f)
#define after(k)                   SP_AFTER(k)
#define set_until(f, k)            ((void)(self->spinach_instant_##f = spinach_after(k)))
#define until(f)                   SP_UNTIL(self->spinach_instant_##f)
#define within(f, k)               SP_WITHIN(self->spinach_instant_##f, k)
#define set_stamp(f, k)            ((void)(self->spinach_stamp_##f = spinach_stamp(SP_stamp_now, (k))))
#define copy_stamp(f, g)           ((void)(self->spinach_stamp_##f = self->spinach_stamp_##g))
#define stamped(f)                 (self->spinach_stamp_##f != 0)
#define passed(f, k)               SP_PASSED(self->spinach_stamp_##f, k)
#define until_passed(f, k)         spinach_until_passed(self->spinach_stamp_##f, (k), SP_stamp_now)
#define elapsed(f)                 SP_ELAPSED(self->spinach_stamp_##f)
#define note(f, ...)               SP_note_##f(__VA_ARGS__)
#define load(f, i)                 SP_LOAD(self->spinach_memory_##f, i)
#define store(f, i, ...)           SP_STORE(self->spinach_memory_##f, i, __VA_ARGS__)
#define load_span(f, i, n)         SP_LOAD_SPAN(self->spinach_memory_##f, i, n)
#define store_span(f, i, n)        SP_STORE_SPAN(self->spinach_memory_##f, i, n)
#define flight_send(f, ticks, ...) SP_flight_send_##f(ticks, __VA_ARGS__)
#define flight_due(f, ...)         SP_FLIGHT_DUE(self->spinach_flight_##f, SP_LANE(__VA_ARGS__))
#define flight_item(f)             SP_FLIGHT_ITEM(self->spinach_flight_##f)
#define flight_next(f)             SP_FLIGHT_NEXT(self->spinach_flight_##f)
#define flight_drop(f)             SP_FLIGHT_DROP(self->spinach_flight_##f, #f)
#define flight_empty(f)            (!self->spinach_flight_##f.places.held)
#define unchanged(...)             SP_UNCHANGED_##__VA_OPT__(UNTIL)(__VA_ARGS__)
#define get(l, ...)                SP_get_##l(SP_LANE(__VA_ARGS__))
#define set(l, ...)                SP_set_##l(__VA_ARGS__)
#define is_known(signal, p, ...)   SP_known_##signal##_##p(SP_LANE(__VA_ARGS__))
#define width(p)                   SP_width_##p
#define lane(p, k)                 SP_lane_##p(key_##k)
#define key(p, i)                  SP_key_##p(i)
#define param(n)                   SP_param_##n
#define param_length(n)            SP_param_length_##n
#define typeof_port(p)             SP_type_##p
#define call(u, ...)               SP_call(u)(self __VA_OPT__(, ) __VA_ARGS__)
#define typeof_argument(u, n)      SP_argument_##u##_##n
#define event(e, ...)              SP_event_##e(__VA_ARGS__)
#define observed(e)                SP_observed_##e

#define phase_start(...) SP_phase_start_##__VA_ARGS__
#define phase_end(...)   SP_phase_end_##__VA_ARGS__
#define init(...)        SP_init_##__VA_ARGS__
#define finish(...)      SP_finish_##__VA_ARGS__
#define next_event(...)  SP_next_event_##__VA_ARGS__
#define skip(n)          SP_skip
#define statistics()     SP_statistics
#define awaits()         SP_awaits
#define check_state()    SP_check_state
#define handler(x, ...)  SP_handler_##x(__VA_ARGS__)

#define now()                (SP_TIME.now)
#define cycle()              (SP_TIME.cycle)
#define due(t)               SP_DUE(t)
#define is_cycle(c)          SP_IS_CYCLE(c)
#define cycle_modulo(n)      SP_CYCLE_MODULO(n)
#define clock_period()       (spinach_time.period)
#define never()              UINT64_MAX
#define random_bits(rng)     spinach_random_bits(rng)
#define random_seed(rng)     spinach_random_seed(self->spinach_id, (rng))
#define sim_error(...)       spinach_error(self->spinach_id, __VA_ARGS__)
#define sim_input_error(...) spinach_input_error(self->spinach_id, __VA_ARGS__)
#define sim_difference(expected, expected_bytes, actual, actual_bytes)                                                 \
  spinach_difference(expected, expected_bytes, actual, actual_bytes)
#define sim_check(holds, ...)                                                                                          \
  do {                                                                                                                 \
    if (SP_checked && !(holds)) sim_error(__VA_ARGS__);                                                                \
  } while (0)
#define sim_warn(...)         spinach_warn(self->spinach_id, __FILE__, __LINE__, __VA_ARGS__)
#define sim_exit(status, ...) spinach_stop(self->spinach_id, (status), __VA_ARGS__)
#define sim_progress()        spinach_progress()
#define waits_for(p, i, ...)                                                                                           \
  do {                                                                                                                 \
    if (SP_width_##p > 0) spinach_waits_for(self->spinach_id, #p, (i), __VA_ARGS__);                                   \
  } while (0)
#define type_print(p, value, text, size) spinach_type_print(&SP_descriptor_##p, (value), (text), (size))
#define type_parse(p, text, value, why)  spinach_type_parse(&SP_descriptor_##p, (text), (value), (why))
