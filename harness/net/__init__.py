"""Network traffic as files: frames, captures, generated traffic, and whether what came out is what went in.

packets reads and writes packet files; udp and tcp make frames; traffic and tcp generate what is sent; capture records
real sockets; check compares; theory says what an Ethernet link can carry.
"""
