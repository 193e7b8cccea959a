// bare_wire.c: sends nothing; see bare_wire.lss.
handler(offer) {
  send_nothing(out);
}
