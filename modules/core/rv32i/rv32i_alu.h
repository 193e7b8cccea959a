// rv32i_alu.h: the operation that the RV32I ALU has in place of nor; see rv32i_alu.lss.
#ifndef RV32I_ALU_H
#define RV32I_ALU_H

enum { RV32I_ALU_SECOND = 5 }; // the second operand as it is: alu_op's nor

#endif
