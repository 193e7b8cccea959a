# Entries of both processors, and their dispatch loops.
#
# Everything is loaded into SRAM.  Each processor copies what it needs into its own scratchpad and runs it there: code of
# its own, and code and working state of both, which have the same addresses in both scratchpads.  k0 holds the enabled
# events, k1 the dispatch table, gp the working state, s7 the registers.

#include "assembly.inc"

.macro begin load, own, end, main, stack
  copy  \load, \own, \end
  copy  common_load, common_start, common_end
  clear scratchpad_zero_start, scratchpad_zero_end
  lui   $gp, %hi(firmware_state)
  addiu $gp, $gp, %lo(firmware_state)
  move  $k0, $zero
  enter \main, \stack
.endm

  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 # no caller: a backtrace ends here
  clear zero_start, zero_end
  begin scratchpad_load, scratchpad_start, scratchpad_end, start, stack_top
  .cfi_endproc
  .size _start, . - _start

  .globl second_start
  .type second_start, @function
second_start:
  .cfi_startproc
  .cfi_undefined $31 # no caller: a backtrace ends here
  begin second_load, second_text_start, second_text_end, second_main, second_stack_top
  .cfi_endproc
  .size second_start, . - second_start

# Receives, and owns the DMA write ring.
  .section .scratchpad.text, "ax"
  dispatch_loop dispatch, REGISTERS_EVENT_A, dispatch_table
  dispatch_loop_with_rings dispatch_and_drive_rings, REGISTERS_EVENT_A, dispatch_table

  .balign 8
  .type dispatch_table, @function
dispatch_table:
  no_event 1
  no_event 3                         # 0 to 2
  event index_of_second              # 3
  no_event 2
  .globl receive_entry
receive_entry:
  event receive                      # 6
  no_event 2
  event take_ready_buffers           # 9
  no_event 4                         # 10 to 13
  event dma_write_done               # 14
  no_event 4                         # 15 to 18
  event dma_write_attention          # 19
  event dma_read_attention           # 20
  no_event 1
  event mailbox                      # 22
  event report_of_second             # 23
  event report_received              # 24
  event mac_attention                # 25
  event mac_attention                # 26
  no_event 1
  event timer                        # 28
  no_event 3
  .size dispatch_table, . - dispatch_table

# Sends, and owns the DMA read ring.
  .section .second.text, "ax"
  dispatch_loop dispatch_second, REGISTERS_EVENT_B, dispatch_second_table
  dispatch_loop_with_rings dispatch_second_and_drive_rings, REGISTERS_EVENT_B, dispatch_second_table

  .balign 8
  .type dispatch_second_table, @function
dispatch_second_table:
  no_event 1
  no_event 4                         # 0 to 3
  .globl send_entry
send_entry:
  event send                         # 4
  no_event 3
  event serve_request                # 8
  event fetch_wanted_buffers         # 9
  no_event 5                         # 10 to 14
  event dma_read_done                # 15
  no_event 6                         # 16 to 21
  .globl mailbox_entry
mailbox_entry:
  event mailbox                      # 22
  event report_sent                  # 23
  no_event 4
  event timer                        # 28
  no_event 3
  .size dispatch_second_table, . - dispatch_second_table
