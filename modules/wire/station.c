// station.c: a host machine with a network stack at the far end of a wire; see station.lss.
#include <arpa/inet.h>

#include "wire/arp.h"
#include "wire/ethernet_line.h"
#include "wire/ethernet_transmitter.h"
#include "wire/icmp.h"
#include "wire/station.h"
#include "wire/tcp_connection.h"
#include "wire/tcp_stream.h"
#include "wire/udp.h"
#include "wire/vlan_tag.h"

static exact_time time_of(int64_t femtoseconds) {
  return exact_time_of((uint64_t)femtoseconds, 1000000000000000, ticks_per_second());
}

static uint64_t cycles_of(int64_t femtoseconds) {
  const uint64_t cycles = (exact_time_instant(time_of(femtoseconds)) + clock_period() - 1) / clock_period();
  return cycles ? cycles : 1;
}

static uint32_t parse_address(const self_t *self, const char *name, const char *text) {
  struct in_addr parsed;
  if (inet_pton(AF_INET, text, &parsed) != 1 || !ip_is_unicast(ntohl(parsed.s_addr)))
    sim_input_error("%s is the IPv4 address of a machine, like 192.0.2.2, not '%s'", name, text);
  return ntohl(parsed.s_addr);
}

init() {
  self->byte_time = ethernet_time_of_byte((double)param(rate), ticks_per_second());
  if (!station_parse_mac(param(mac), &self->own_mac))
    sim_input_error("mac is the Ethernet address of a machine, like 02:00:00:00:00:02, not '%s'", param(mac));
  self->own_address = parse_address(self, "address", param(address));
  if (param(udp_to)[0]) self->host = parse_address(self, "udp_to", param(udp_to));
  if (param(capture)[0]) packet_write_open(&self->captured, param(capture));
  random_seed(&self->rng);
  self->line.beat_cycle = self->line.plain_at = never();
  self->incoming.opens_at = 1;
  for (int i = 0; i < param(connections); i++) set_until(tcp_due[i], never());
}

// A count that allows datagrams again does not have those caught up with that none was sent before.
handler(reset, udp_count) {
  self->udp_next = exact_time_later(self->udp_next, exact_time_at(now()));
  if (!self->line.playing) self->line.wake = 0;
}

// ---- What comes ----

static void drop(self_t *self, station_drop reason, uint32_t length) {
  count(dropped[reason]);
  event(discarded, reason, length);
}

static void accept_frame(self_t *self, station_protocol protocol, uint32_t length) {
  count(received[protocol]);
  event(accepted, protocol, length);
}

// When a reply to the frame that has just come may start.
static exact_time reply_time(const self_t *self) {
  return exact_time_sum(self->incoming.due, time_of(param(response)));
}

static bool has_room(self_t *self, uint32_t length) {
  const bool room = self->queue_count < (uint32_t)param(replies);
  if (!room) drop(self, station_drop_busy, length);
  return room;
}

static uint32_t free_slot(const self_t *self) {
  return (self->queue_first + self->queue_count) % (uint32_t)param(replies);
}

// The frame that was built in the free slot is sent after those before it.
static void submit(self_t *self, station_protocol protocol, uint32_t length) {
  const uint32_t slot = free_slot(self);
  self->queue_length[slot] = length;
  self->queue_ready[slot] = reply_time(self);
  self->queue_protocol[slot] = protocol;
  self->queue_count++;
}

// The Ethernet address of a machine is known from a packet of its own.
static void learn(self_t *self, uint32_t address, uint64_t mac) {
  if (address != self->host || self->host == 0) return;
  if (self->host_mac == 0) self->udp_next = reply_time(self);
  self->host_mac = mac;
}

static void receive_arp(self_t *self, const uint8_t *frame, uint32_t length) {
  ArpPacket arp;
  if (!arp_parse(frame, length, &arp) || arp.sender == self->own_address) {
    drop(self, station_drop_arp, length);
    return;
  }
  accept_frame(self, station_protocol_arp, length);
  learn(self, arp.sender, arp.sender_mac);
  if (arp.operation != ARP_REQUEST || arp.target != self->own_address || !has_room(self, length)) return;
  const IpEnds ends = {arp.sender_mac, self->own_mac, arp.sender, self->own_address};
  submit(self, station_protocol_arp,
         arp_build(store_span(queue[free_slot(self)], 0, param(max_frame)), ends, ARP_REPLY));
}

static void receive_icmp(self_t *self, const IpDatagram *ip, uint32_t length) {
  if (!icmp_is_valid(ip)) {
    drop(self, station_drop_icmp, length);
  } else if (!icmp_is_echo(ip)) {
    drop(self, station_drop_protocol, length);
  } else {
    accept_frame(self, station_protocol_icmp, length);
    if (!has_room(self, length)) return;
    uint8_t *reply = store_span(queue[free_slot(self)], 0, param(max_frame));
    submit(self, station_protocol_icmp, icmp_build_reply(reply, ip, self->identification++));
  }
}

static void receive_udp(self_t *self, const IpDatagram *ip, uint32_t length) {
  UdpDatagram udp;
  if (!udp_parse(ip, &udp)) {
    drop(self, station_drop_udp, length);
    return;
  }
  if (udp.to_port != UDP_PORT_ECHO && udp.to_port != UDP_PORT_DISCARD) {
    drop(self, station_drop_port, length);
    return;
  }
  accept_frame(self, station_protocol_udp, length);
  count(udp_received, udp.length);
  // A reply to an echo port would go to and fro for ever.
  if (udp.to_port != UDP_PORT_ECHO || udp.from_port == UDP_PORT_ECHO || !has_room(self, length)) return;
  uint8_t *reply = store_span(queue[free_slot(self)], 0, param(max_frame));
  memcpy(reply + IP_FRAME_DATA + UDP_HEADER, ip->data + UDP_HEADER, udp.length);
  const UdpDatagram echo = {.from_port = UDP_PORT_ECHO, .to_port = udp.from_port, .length = udp.length};
  submit(self, station_protocol_udp, udp_put_headers(reply, ip_reversed(ip->ends), echo, self->identification++));
}

// A frame of another protocol goes back as it is.
static void echo_frame(self_t *self, const uint8_t *frame, uint32_t length) {
  if (length > (uint32_t)param(max_frame) || !has_room(self, length)) return;
  uint8_t *reply = store_span(queue[free_slot(self)], 0, param(max_frame));
  ip_put_ethernet(reply, ip_load(frame + 6, 6), self->own_mac, (uint32_t)param(echo_ethertype));
  memcpy(reply + IP_FRAME_PAYLOAD, frame + IP_FRAME_PAYLOAD, length - IP_FRAME_PAYLOAD);
  submit(self, station_protocol_other, length);
}

// ---- TCP ----

// Sends a segment without data in reply, from the port to which the other came.
static void reply_tcp(self_t *self, IpEnds ends, TcpSegment segment, uint32_t length) {
  if (!has_room(self, length)) return;
  uint8_t *reply = store_span(queue[free_slot(self)], 0, param(max_frame));
  count(tcp_resets, (segment.flags & TCP_RST) != 0);
  submit(self, station_protocol_tcp, tcp_put_headers(reply, ends, &segment, self->identification++));
}

// RFC 9293, 3.10.7.1: a segment for which there is no connection.
static void refuse_tcp(self_t *self, const IpDatagram *ip, const TcpSegment *s, uint32_t length) {
  if (s->flags & TCP_RST) return;
  const bool acknowledges = s->flags & TCP_ACK;
  const TcpSegment reset = {
      .from_port = s->to_port,
      .to_port = s->from_port,
      .seq = acknowledges ? s->ack : 0,
      .ack = acknowledges ? 0 : s->seq + tcp_sequence_length(s),
      .flags = acknowledges ? TCP_RST : TCP_RST | TCP_ACK,
  };
  reply_tcp(self, ip_reversed(ip->ends), reset, length);
}

// Lets the timer of a connection run if it is needed, from now on if it has to begin anew.
static void set_timer(self_t *self, uint32_t i, bool anew) {
  const tcp_connection *c = &self->connection[i];
  if (!tcp_needs_timer(c)) {
    set_until(tcp_due[i], never());
  } else if (anew || until(tcp_due[i]) == never()) {
    int64_t after = param(tcp_retransmit);
    for (int k = 0; k < c->backoff && after < STATION_LONGEST_RETRANSMISSION; k++) after *= 2;
    if (after > STATION_LONGEST_RETRANSMISSION) after = STATION_LONGEST_RETRANSMISSION;
    set_until(tcp_due[i], cycles_of(c->phase == tcp_state_time_wait ? param(tcp_time_wait) : after));
  }
}

// A connection was in the state `before`; what follows from the one that it is in.
static void change_state(self_t *self, uint32_t i, tcp_state before, bool aborted) {
  const tcp_connection *c = &self->connection[i];
  if (c->phase == before) return;
  event(tcp_changed, (uint8_t)i, c->phase);
  if (aborted && before != tcp_state_time_wait) {
    count(tcp_aborted);
  } else if (c->phase == tcp_state_time_wait || (c->phase == tcp_state_closed && before == tcp_state_last_ack)) {
    count(tcp_ended);
    report(tcp_received_crc, ~c->received_crc);
    report(tcp_sent_crc, ~c->sent_crc);
    event(tcp_ended, c->received, ~c->received_crc, c->to_send, ~c->sent_crc);
  }
}

// A free entry, or the one that has been in TIME_WAIT for longest; -1 if there is none.
static int free_connection(const self_t *self) {
  int best = -1;
  for (int i = 0; i < param(connections); i++) {
    if (self->connection[i].phase == tcp_state_closed) return i;
    if (self->connection[i].phase == tcp_state_time_wait && (best < 0 || until(tcp_due[i]) < until(tcp_due[best])))
      best = i;
  }
  return best;
}

// RFC 9293, 3.10.7.2: a segment in LISTEN.
static void listen_tcp(self_t *self, const IpDatagram *ip, const TcpSegment *s, uint32_t length) {
  if (s->flags & (TCP_RST | TCP_ACK)) {
    refuse_tcp(self, ip, s, length);
    return;
  }
  const int i = free_connection(self);
  if (!(s->flags & TCP_SYN) || i < 0) {
    drop(self, i < 0 ? station_drop_busy : station_drop_tcp, length);
    return;
  }
  const int64_t chosen = param(tcp_initial_sequence);
  const uint32_t iss = chosen < 0 ? (uint32_t)random_bits(&self->rng) : (uint32_t)chosen;
  self->connection[i] = tcp_open(s, &ip->ends, iss, (uint32_t)param(max_frame) - 18 - IP_HEADER - TCP_HEADER);
  self->connection[i].ready = reply_time(self);
  change_state(self, (uint32_t)i, tcp_state_closed, false);
  set_timer(self, (uint32_t)i, true);
}

// It is known how much a connection sends.
static void start_stream(self_t *self, tcp_connection *c) {
  c->started = true;
  c->to_send = (uint64_t)param(tcp_send);
  c->finishing |= param(tcp_close);
}

// Data have come, in order.
static void take_stream(self_t *self, tcp_connection *c, const TcpOutcome *outcome) {
  if (outcome->data_length == 0) return;
  c->received_crc = ethernet_fcs_add(c->received_crc, outcome->data, outcome->data_length);
  count(tcp_received, outcome->data_length);
  if (!c->started) start_stream(self, c);
}

static void arrive_tcp(self_t *self, uint32_t i, const IpDatagram *ip, const TcpSegment *s, uint32_t length) {
  tcp_connection *c = &self->connection[i];
  const tcp_state before = c->phase;
  const uint64_t acknowledged = c->acknowledged;
  const TcpOutcome outcome = tcp_arrive(c, s, (uint32_t)param(tcp_window));
  c->peer_mac = ip->ends.from_mac;
  c->ready = reply_time(self);
  count(tcp_sent, c->acknowledged - acknowledged);
  count(tcp_opened, outcome.established);
  count(tcp_out_of_order, outcome.out_of_order);
  if (outcome.established && !param(tcp_send_after_data)) start_stream(self, c);
  take_stream(self, c, &outcome);
  change_state(self, i, before, outcome.aborted);
  set_timer(self, i, outcome.progress || (c->phase == tcp_state_time_wait && before != c->phase));
  if (!outcome.acknowledge && !outcome.reset) return;
  const TcpSegment reply = {.from_port = s->to_port,
                            .to_port = s->from_port,
                            .seq = outcome.reset ? outcome.reset_seq : c->snd_nxt,
                            .ack = outcome.reset ? 0 : c->rcv_nxt,
                            .flags = outcome.reset ? TCP_RST : TCP_ACK,
                            .window = outcome.reset ? 0 : (uint32_t)param(tcp_window)};
  reply_tcp(self, ip_reversed(ip->ends), reply, length);
}

static void receive_tcp(self_t *self, const IpDatagram *ip, uint32_t length) {
  TcpSegment s;
  if (!tcp_parse(ip, &s)) {
    drop(self, station_drop_tcp, length);
    return;
  }
  accept_frame(self, station_protocol_tcp, length);
  if (s.to_port != (uint32_t)param(tcp_port)) {
    refuse_tcp(self, ip, &s, length);
    return;
  }
  for (int i = 0; i < param(connections); i++) {
    const tcp_connection *c = &self->connection[i];
    if (c->phase != tcp_state_closed && c->peer == ip->ends.from && c->peer_port == s.from_port) {
      arrive_tcp(self, (uint32_t)i, ip, &s, length);
      return;
    }
  }
  listen_tcp(self, ip, &s, length);
}

// The timer of a connection has run out.
static void expire(self_t *self, uint32_t i) {
  tcp_connection *c = &self->connection[i];
  const tcp_state before = c->phase;
  const bool alive = tcp_timeout(c, (uint32_t)param(tcp_retries));
  c->ready = exact_time_at(now());
  change_state(self, i, before, !alive);
  set_timer(self, i, true);
  if (!self->line.playing) self->line.wake = 0;
}

// ---- Frames ----

static void receive_ip(self_t *self, const uint8_t *frame, uint32_t length) {
  IpDatagram ip;
  if (!ip_parse(frame, length, &ip)) {
    drop(self, station_drop_ip, length);
    return;
  }
  if (ip.ends.to_mac != self->own_mac || ip.ends.to != self->own_address || ip.ends.from == self->own_address ||
      !ip_is_unicast(ip.ends.from)) {
    drop(self, station_drop_address, length);
    return;
  }
  if (ip.fragment) {
    drop(self, station_drop_fragment, length);
    return;
  }
  learn(self, ip.ends.from, ip.ends.from_mac);
  switch (ip.protocol) {
  case IP_PROTOCOL_ICMP: receive_icmp(self, &ip, length); break;
  case IP_PROTOCOL_UDP: receive_udp(self, &ip, length); break;
  case IP_PROTOCOL_TCP: receive_tcp(self, &ip, length); break;
  default: drop(self, station_drop_protocol, length); break;
  }
}

static void receive(self_t *self, const uint8_t *frame, uint32_t length) {
  const uint64_t to = ip_load(frame, 6), from = ip_load(frame + 6, 6), type = ip_load(frame + IP_FRAME_TYPE, 2);
  if ((to != self->own_mac && to != IP_FRAME_BROADCAST) || ip_mac_is_group(from) || from == self->own_mac) {
    drop(self, station_drop_address, length);
  } else if (type == IP_FRAME_ARP) {
    receive_arp(self, frame, length);
  } else if (type == IP_FRAME_IPV4) {
    receive_ip(self, frame, length);
  } else {
    accept_frame(self, station_protocol_other, length);
    if (type == (uint64_t)param(echo_ethertype) && type != 0 && to == self->own_mac) echo_frame(self, frame, length);
  }
}

static void capture_frame(self_t *self, const uint8_t *frame, uint32_t length, exact_time end) {
  if (param(capture)[0]) packet_write(&self->captured, frame, length, exact_time_nanoseconds(end, ticks_per_second()));
}

// The last beat of a frame from the device has been taken.
__attribute__((noinline)) static void arrive(self_t *self, bool faulty) {
  const uint32_t length = self->incoming.position, plain = length > 4 ? length - 4 : 0;
  const uint32_t most = vlan_longest(load_span(in_frame, 0, 16), (uint32_t)param(max_frame), (uint32_t)param(vlan_tag));
  const bool wrong = line_is_faulty(&self->incoming, faulty, (uint32_t)param(min_frame), most);
  self->incoming.taking = false;
  count(frames_received);
  count(bytes_received, plain);
  event(arrived, length);
  sim_progress();
  if (wrong) {
    drop(self, station_drop_damaged, plain);
  } else {
    const uint8_t *frame = load_span(in_frame, 0, plain);
    capture_frame(self, frame, plain, self->incoming.due);
    receive(self, frame, plain);
  }
  self->incoming.due = exact_time_add(self->incoming.due, (uint64_t)param(gap), self->byte_time);
  if (!self->line.playing) self->line.wake = 0;
}

// A beat from the device has been taken.
static void take(self_t *self, const wire_beat_64 *beat) {
  if (!self->incoming.taking) event(arriving);
  const uint32_t at =
      line_take(&self->incoming, beat, now(), clock_period(), self->byte_time, (uint64_t)param(preamble));
  if ((uint64_t)at + beat->count <= (uint32_t)(param(max_frame) + param(vlan_tag)) + 8)
    memcpy(store_span(in_frame, at, 8), &beat->bytes, 8);
  if (beat->end) arrive(self, beat->error);
  self->incoming.opens_at = exact_time_instant(self->incoming.due);
}

// ---- What goes ----

// The frame that was built in `frame` begins, at `ready` if the line is free then.
static void begin(self_t *self, station_protocol protocol, uint32_t length, exact_time ready) {
  const uint32_t padded = length + 4 < (uint32_t)param(min_frame) ? (uint32_t)param(min_frame) - 4 : length;
  memset(store_span(frame, length, padded - length), 0, padded - length);
  const uint32_t fcs = ~ethernet_fcs_of(load_span(frame, 0, padded), padded);
  memcpy(store_span(frame, padded, 4), &fcs, 4);
  memset(store_span(frame, padded + 4, 8), 0, 8);
  exact_time start = exact_time_later(self->line.line_free, ready);
  if (exact_time_instant(start) + clock_period() <= now()) start = exact_time_at(now());
  self->line.length = padded + 4;
  count(sent[protocol]);
  event(playing, padded + 4);
  event(sending, protocol, padded);
  line_begin(&self->line, exact_time_add(start, (uint64_t)param(preamble), self->byte_time), self->byte_time,
             clock_period());
}

static void begin_reply(self_t *self) {
  const uint32_t slot = self->queue_first, length = self->queue_length[slot];
  memcpy(store_span(frame, 0, length), load_span(queue[slot], 0, length), length);
  self->queue_first = (slot + 1) % (uint32_t)param(replies);
  self->queue_count--;
  begin(self, self->queue_protocol[slot], length, self->queue_ready[slot]);
}

static void begin_tcp(self_t *self, uint32_t i, const tcp_connection *next, TcpSegment segment, uint64_t offset) {
  const tcp_connection before = self->connection[i];
  self->connection[i] = *next;
  self->turn = (i + 1) % (uint32_t)param(connections);
  segment.from_port = (uint32_t)param(tcp_port);
  segment.to_port = before.peer_port;
  segment.window = (uint32_t)param(tcp_window);
  uint8_t *built = store_span(frame, 0, param(max_frame)), *data = built + IP_FRAME_DATA + tcp_header_bytes(&segment);
  tcp_stream_bytes(data, offset, segment.length, (uint64_t)param(tcp_seed));
  const int32_t fresh = tcp_distance(before.snd_max, segment.seq + segment.length);
  const uint32_t new_bytes = fresh < 0 ? 0 : (uint32_t)fresh < segment.length ? (uint32_t)fresh : segment.length;
  self->connection[i].sent_crc = ethernet_fcs_add(before.sent_crc, data + segment.length - new_bytes, new_bytes);
  count(tcp_retransmitted, tcp_distance(before.snd_max, segment.seq + tcp_sequence_length(&segment)) <= 0);
  const IpEnds ends = {before.peer_mac, self->own_mac, before.peer, self->own_address};
  begin(self, station_protocol_tcp, tcp_put_headers(built, ends, &segment, self->identification++), before.ready);
  change_state(self, i, before.phase, false);
  set_timer(self, i, false);
}

static void begin_arp(self_t *self) {
  set_until(arp_due, cycles_of(param(arp_interval)));
  const IpEnds ends = {.from_mac = self->own_mac, .to = self->host, .from = self->own_address};
  begin(self, station_protocol_arp, arp_build(store_span(frame, 0, param(max_frame)), ends, ARP_REQUEST),
        exact_time_at(now()));
}

static void begin_udp(self_t *self) {
  const uint32_t payload = (uint32_t)param(udp_payload), port = (uint32_t)param(udp_port);
  uint8_t *built = store_span(frame, 0, param(max_frame));
  udp_fill(built + UDP_HEADERS, 1, self->udp_begun++, payload, (uint64_t)param(udp_seed));
  const IpEnds ends = {self->host_mac, self->own_mac, self->host, self->own_address};
  const UdpDatagram udp = {.from_port = port, .to_port = port, .length = payload};
  const uint32_t length = udp_put_headers(built, ends, udp, self->identification++);
  count(udp_sent, payload);
  begin(self, station_protocol_udp, length, self->udp_next);
  self->udp_next = exact_time_add(self->udp_next, LINE_BYTES(self->line.length),
                                  ethernet_time_of_byte((double)param(udp_rate), ticks_per_second()));
}

static bool sends_udp(const self_t *self) {
  return self->host != 0 && (param(udp_count) == 0 || self->udp_begun < (uint64_t)param(udp_count));
}

// Whether the line is free for a request for the host's address, when it is due.
static bool needs_arp(const self_t *self) {
  return self->linked && !self->line.playing && self->host_mac == 0 && sends_udp(self);
}

// Whether it begins in this cycle; else the line is looked at again when it does.
static bool begins_now(self_t *self, exact_time ready) {
  const uint64_t at = line_begins_at(&self->line, ready, clock_period());
  if (at <= now()) return true;
  if (at < self->line.wake) self->line.wake = at;
  return false;
}

// The line is free: replies go first, then streams in turn, then what the station says by itself.
static void choose_frame(self_t *self) {
  self->line.wake = never();
  if (!self->linked) return;
  if (self->queue_count && begins_now(self, self->queue_ready[self->queue_first])) {
    begin_reply(self);
    return;
  }
  for (uint32_t k = 0; k < (uint32_t)param(connections); k++) {
    const uint32_t i = (self->turn + k) % (uint32_t)param(connections);
    tcp_connection next = self->connection[i];
    TcpSegment segment;
    uint64_t offset;
    const uint32_t most = (uint32_t)param(max_frame) - 18 - IP_HEADER - TCP_HEADER;
    if (tcp_next(&next, most, &segment, &offset) && begins_now(self, next.ready)) {
      begin_tcp(self, i, &next, segment, offset);
      return;
    }
  }
  if (!sends_udp(self)) return;
  if (self->host_mac == 0) {
    if (until(arp_due) == 0 && begins_now(self, exact_time_at(0))) begin_arp(self);
  } else if (begins_now(self, self->udp_next)) {
    begin_udp(self);
  }
}

// Offers the last beat, which has arrived.
static void play_last(self_t *self) {
  line_play_last(&self->line, load_span(frame, self->line.position, 8), false, cycle() + 1, (uint64_t)param(gap),
                 self->byte_time);
  count(frames_sent);
  count(bytes_sent, self->line.length - 4);
  event(played, self->line.length);
  sim_progress();
  capture_frame(self, load_span(frame, 0, self->line.length - 4), self->line.length - 4, self->line.due);
}

check_state() {
  if (!line_is_sound(&self->line))
    sim_error("%u bytes of a frame of %u were played", (unsigned)self->line.position, (unsigned)self->line.length);
}

phase_start() {
  const bool last = is_cycle(self->line.beat_cycle);
  wire_beat_64 beat = self->line.beat;
  if (!last) beat = line_plain_beat(&self->line, load_span(frame, self->line.position, 8));
  send_if(to_device, last || due(self->line.plain_at), beat);
}

handler(pace) {
  accept(from_device, due(self->incoming.opens_at));
}

phase_end() {
  if (transferred(from_device)) take(self, &data(from_device));
  for (int i = 0; i < param(connections); i++)
    if (__builtin_expect(within(tcp_due[i], 0), 0)) expire(self, (uint32_t)i);
  if (!self->linked && (width(ready) == 0 || (some(ready) && data(ready)))) {
    self->linked = true;
    self->line.wake = 0;
  }
  if (needs_arp(self) && within(arp_due, 0)) self->line.wake = 0;
  if (!due(self->line.wake) || !line_step(&self->line, self->byte_time, now(), clock_period())) return;
  if (self->line.playing)
    play_last(self);
  else
    choose_frame(self);
}

next_event() {
  // What is sent in one cycle is gone in the next.
  if (self->line.beat_cycle == cycle() || self->line.beat_cycle + 1 == cycle()) return cycle();
  uint64_t first = line_cycle_at(self->line.wake, cycle(), now(), clock_period());
  const uint64_t opens = line_cycle_at(self->incoming.opens_at, cycle(), now(), clock_period());
  if (now() < self->incoming.opens_at + clock_period() && opens < first) first = opens;
  for (int i = 0; i < param(connections); i++)
    if (after(until(tcp_due[i])) < first) first = after(until(tcp_due[i]));
  if (needs_arp(self) && after(until(arp_due)) < first) first = after(until(arp_due));
  return first;
}
