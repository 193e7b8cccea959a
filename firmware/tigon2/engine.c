/* Processor A's share of the DMA rings when neither the hardware assist nor processor B carries them out: a step
 * between any two events.
 */
#include "hot.h"

HOT void drive_rings(void) {
  struct registers *r = registers();
  engine_write(&hot->engine, r);
  engine_read(&hot->engine, r);
}
