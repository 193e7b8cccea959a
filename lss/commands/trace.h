// What `lss trace` prints: one line for a record, for people or for tools.
#ifndef LSS_TRACE_H
#define LSS_TRACE_H

#include "lss/runtime/trace/code_names.h"
#include "lss/runtime/trace/trace_reader.h"

// A record, and where the instruction is that it is of; `place` is NULL when it is of none.
typedef struct {
  const TraceRecord *record;
  guint64 cycle; // of its clock
  guint32 pc, word;
  const CodePlace *place;
} TraceLine;

// "   1234 cpu[0]  00c00840  lw $v0, 4($a0)  = 0x12  <send+0x10> send.c:20", "  1234 nic.dma.done outward=true ...".
// Of a machine with several clocks, the time and the clock stand before: "   7012.500 ns cpu_clk:1234 nic.dma.done
// ...".
void trace_append_text(GString *out, const TraceReadHeader *header, const TraceLine *line, CodeNames *names);

// {"cycle":1234,"instant":30850,"path":"cpu[0].pipeline.writeback","event":"retire",...}
void trace_append_json(GString *out, const TraceReadHeader *header, const TraceLine *line);
// The header as such a line: {"machine":...,"ticks_per_second":...,"clocks":{...},"sources":[...]}
void trace_append_header(GString *out, const TraceReadHeader *header);

#endif
