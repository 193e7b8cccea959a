// What code built with `spinach firmware --sanitize` calls when C leaves undefined what it is about to do: clang's
// minimal runtime, a handler for each kind.  Each ends the run by a breakpoint, so the simulator's report names the
// kind as the function, and the place as the jump that led there.  See docs/firmware.md.

#ifdef __mips__
#define BREAKPOINT "break"
#else
#define BREAKPOINT "ebreak"
#endif

// Clang's name of the handler, and the function that the report names.  The frame of the caller is left as it is: the
// handler is a label with one instruction.
#define HANDLER(handler, kind)                                                                                         \
  __asm__(".section .text.sanitizer_" #kind ", \"ax\"\n"                                                               \
          ".globl sanitizer_" #kind "\n.type sanitizer_" #kind ", %function\n"                                         \
          "sanitizer_" #kind ":\n"                                                                                     \
          ".globl __ubsan_handle_" #handler "\n"                                                                       \
          "__ubsan_handle_" #handler ":\n" BREAKPOINT "\n"                                                             \
          ".size sanitizer_" #kind ", . - sanitizer_" #kind "\n");

HANDLER(out_of_bounds_minimal_abort, index_out_of_bounds)
HANDLER(local_out_of_bounds_minimal_abort, index_out_of_local_bounds)
HANDLER(add_overflow_minimal_abort, addition_overflow)
HANDLER(sub_overflow_minimal_abort, subtraction_overflow)
HANDLER(mul_overflow_minimal_abort, multiplication_overflow)
HANDLER(negate_overflow_minimal_abort, negation_overflow)
HANDLER(divrem_overflow_minimal_abort, division_by_zero_or_overflow)
HANDLER(shift_out_of_bounds_minimal_abort, shift_out_of_bounds)
HANDLER(pointer_overflow_minimal_abort, pointer_overflow)
HANDLER(type_mismatch_minimal_abort, object_too_small)
HANDLER(builtin_unreachable_minimal, unreachable_code)
HANDLER(missing_return_minimal, missing_return)
HANDLER(vla_bound_not_positive_minimal_abort, array_length_not_positive)
HANDLER(float_cast_overflow_minimal_abort, float_cast_overflow)
HANDLER(load_invalid_value_minimal_abort, invalid_value_of_bool_or_enum)
HANDLER(invalid_builtin_minimal_abort, zero_for_count_of_zeros)
HANDLER(nonnull_arg_minimal_abort, null_argument)
HANDLER(nonnull_return_minimal_abort, null_result)
HANDLER(nullability_arg_minimal_abort, null_argument_by_nullability)
HANDLER(nullability_return_minimal_abort, null_result_by_nullability)
