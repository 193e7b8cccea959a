# Entries of both processors, and the dispatch loop.
#
# Everything is loaded into SRAM; what is executed for every frame is copied from there into the processor's scratchpad and runs there.
# k0 holds the enabled events, k1 the dispatch table, gp the working state, s7 the registers.

#include "assembly.inc"

  .section .start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined $31 # no caller: a backtrace ends here
  copy  scratchpad_load, scratchpad_start, scratchpad_end
  clear scratchpad_zero_start, scratchpad_zero_end
  clear zero_start, zero_end
  lui   $gp, %hi(firmware_state)
  addiu $gp, $gp, %lo(firmware_state)
  move  $k0, $zero
  enter start, stack_top
  .cfi_endproc
  .size _start, . - _start

  .globl second_start
  .type second_start, @function
second_start:
  .cfi_startproc
  .cfi_undefined $31 # no caller: a backtrace ends here
  copy  second_load, second_text_start, second_text_end
  enter second_main, second_stack_top
  .cfi_endproc
  .size second_start, . - second_start

  .section .scratchpad.text, "ax"

  dispatch_loop dispatch, REGISTERS_EVENT_A, dispatch_table
  dispatch_loop_with_rings dispatch_and_drive_rings, REGISTERS_EVENT_A, dispatch_table

  .balign 8
  .globl dispatch_table
  .type dispatch_table, @function
dispatch_table:
  no_event 1
  no_event 4                         # 0 to 3
  .globl send_entry
send_entry:
  event send                         # 4
  no_event 1
  .globl receive_entry
receive_entry:
  event receive                      # 6
  no_event 7                         # 7 to 13
  event dma_write_done               # 14
  event dma_read_done                # 15
  no_event 3                         # 16 to 18
  event dma_write_attention          # 19
  event dma_read_attention           # 20
  no_event 1
  .globl mailbox_entry
mailbox_entry:
  event mailbox                      # 22
  event report_sent                  # 23
  event report_received              # 24
  event mac_attention                # 25
  event mac_attention                # 26
  no_event 1
  event timer                        # 28
  no_event 3
  .size dispatch_table, . - dispatch_table
