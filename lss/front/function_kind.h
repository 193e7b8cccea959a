// The functions that the behaviour of a leaf module consists of, as declared and as scheduled.
#ifndef LSS_FUNCTION_KIND_H
#define LSS_FUNCTION_KIND_H

typedef enum {
  FUNCTION_INIT,
  FUNCTION_PHASE_START,
  FUNCTION_HANDLER,
  FUNCTION_PHASE_END,
  FUNCTION_NEXT_EVENT,
  FUNCTION_FINISH,
  FUNCTION_RESET, // of a parameter
  FUNCTION_ALWAYS
} FunctionKind;

#endif
