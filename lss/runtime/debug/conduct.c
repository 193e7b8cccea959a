// How a run is conducted; see conduct.h.
#include "lss/runtime/debug/conduct.h"

RunConduct run_conduct;
