// The chain of small handshake modules in Verilog: the same modules, pattern and checksum as the LSS ones beside it.
`timescale 1ns/1ns

module chain_source (input clk, output valid, output [31:0] data, input ready);
  reg [31:0] noise = 32'h2545f491, next = 0;
  wire [31:0] n1 = noise ^ (noise << 13);
  wire [31:0] n2 = n1 ^ (n1 >> 17);
  assign valid = noise[8:7] != 0;
  assign data = next;
  always @(posedge clk) begin
    if (valid && ready) next <= next + 1;
    noise <= n2 ^ (n2 << 5);
  end
endmodule

module chain_sink (input clk, input valid, input [31:0] data, output ready,
                   output reg [63:0] items, output reg [31:0] checksum);
  reg [31:0] noise = 32'h9e3779b9;
  wire [31:0] n1 = noise ^ (noise << 13);
  wire [31:0] n2 = n1 ^ (n1 >> 17);
  assign ready = noise[8:7] != 0;
  initial begin
    items = 0;
    checksum = 0;
  end
  always @(posedge clk) begin
    if (valid && ready) begin
      items <= items + 1;
      checksum <= checksum * 31 + data;
    end
    noise <= n2 ^ (n2 << 5);
  end
endmodule

module chain_ripple (input clk, input in_valid, input [31:0] in_data, output in_ready,
                     output out_valid, output [31:0] out_data, input out_ready);
  reg [31:0] slot = 0;
  reg full = 0;
  assign in_ready = !full || out_ready;
  assign out_valid = full;
  assign out_data = slot;
  always @(posedge clk) begin
    if (in_valid && in_ready) begin
      slot <= in_data + 1;
      full <= 1;
    end else if (out_ready) full <= 0;
  end
endmodule

module chain_register (input clk, input in_valid, input [31:0] in_data, output in_ready,
                       output out_valid, output [31:0] out_data, input out_ready);
  reg [31:0] head = 0, tail = 0;
  reg [1:0] count = 0;
  wire taken = out_valid && out_ready, given = in_valid && in_ready;
  assign in_ready = count < 2;
  assign out_valid = count != 0;
  assign out_data = head;
  always @(posedge clk) begin
    if (given && count == {1'b0, taken}) head <= in_data + 1;
    else if (taken) head <= tail;
    if (given && count != {1'b0, taken}) tail <= in_data + 1;
    count <= count + {1'b0, given} - {1'b0, taken};
  end
endmodule

module chain #(parameter STAGES = 100, parameter RIPPLE = 1) (input clk, output [63:0] items, output [31:0] checksum);
  wire [STAGES:0] valid, ready;
  wire [31:0] data [0:STAGES];
  chain_source head (.clk(clk), .valid(valid[0]), .data(data[0]), .ready(ready[0]));
  genvar i;
  generate
    for (i = 0; i < STAGES; i = i + 1) begin : stage
      if (RIPPLE != 0)
        chain_ripple s (.clk(clk), .in_valid(valid[i]), .in_data(data[i]), .in_ready(ready[i]),
                        .out_valid(valid[i + 1]), .out_data(data[i + 1]), .out_ready(ready[i + 1]));
      else
        chain_register s (.clk(clk), .in_valid(valid[i]), .in_data(data[i]), .in_ready(ready[i]),
                          .out_valid(valid[i + 1]), .out_data(data[i + 1]), .out_ready(ready[i + 1]));
    end
  endgenerate
  chain_sink tail (.clk(clk), .valid(valid[STAGES]), .data(data[STAGES]), .ready(ready[STAGES]),
                   .items(items), .checksum(checksum));
endmodule
