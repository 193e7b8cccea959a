/* cache_controller.h: what a cache controller does; see cache_controller.c. */
#ifndef CACHE_CONTROLLER_H
#define CACHE_CONTROLLER_H

/* What the fill side does. */
enum cache_phase {
  CACHE_IDLE,
  CACHE_READ_VICTIM, /* reads the changed line that is given up out of the storage */
  CACHE_FILL,        /* asks for the beats of the new line, and takes them */
  CACHE_WRITE_BACK,  /* writes the changed line to memory */
  CACHE_PASS         /* a reference that goes past the cache */
};

/* What becomes of the request of this cycle. */
enum cache_outcome {
  CACHE_NOTHING, /* there is none, or it has to wait */
  CACHE_HIT,     /* the storage answers it */
  CACHE_MISS,    /* its line is fetched */
  CACHE_JOIN,    /* it waits for a beat of the line being filled */
  CACHE_BYPASS,  /* it goes past the cache */
  CACHE_POST     /* a write that is answered at once and goes to the write buffer; when it hits, to the line, too */
};

#endif
