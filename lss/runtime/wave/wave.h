// The wave of a run (--wave): signals and states over time, in a file for viewers of waves.
//
// At each edge of a clock the states have the values with which the cycle begins, and the signals those that they take
// in it, as registers and wires have in hardware.  Where nothing is sent, data stays what it was, and `valid` is 0.
// Idle time that the engine skips shows what stepping would: clocks go on, all else stands still.
#ifndef SPINACH_WAVE_H
#define SPINACH_WAVE_H

#include "lss/runtime/engine/request.h"

// Adds the words for `lss build` that make visible what is to be shown and this simulator does not keep visible.
void spinach_wave_add_words(const spinach_options *options, GPtrArray *words);

// Finds what is to be shown and opens the file, when a wave was asked for.  On a mistake prints a line and returns
// false.
bool spinach_wave_begin(const spinach_options *options);

// Starts or ends recording when its time has come; call between instants, before spinach_measure_look().
void spinach_wave_look(void);

// Whether every instant is to be shown: the engine then says when it begins, and when its step is done if it steps.
// `due` are the next edges of the clocks.
extern bool spinach_wave_recording;
void spinach_wave_instant(uint64_t instant, const uint64_t *due, bool steps);
void spinach_wave_stepped(void);

// Completes the file, which appears with the other outputs of the run.  When that fails prints a line and returns
// false.
bool spinach_wave_end(void);

#endif
