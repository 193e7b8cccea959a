// The state machine of a TCP connection that the other end opens: RFC 9293 section 3.10.7, with the challenge ACKs of
// RFC 5961 that it includes, and the congestion window of RFC 5681.  Segments out of order are dropped, and
// acknowledged.
#ifndef TCP_CONNECTION_H
#define TCP_CONNECTION_H

#include "wire/tcp_segment.h"

// What a segment makes the caller do.
typedef struct {
  bool acknowledge;     // send an acknowledgment
  bool reset;           // send RST with `reset_seq`
  bool progress;        // what was sent was acknowledged: the timer begins anew
  bool established;     // the connection is
  bool aborted;         // it was reset
  bool out_of_order;    // it was dropped for that
  const uint8_t *data;  // new data
  uint32_t data_length; // bytes of them
  uint32_t reset_seq;
} TcpOutcome;

// How far b is behind a.
static inline int32_t tcp_distance(uint32_t a, uint32_t b) {
  return (int32_t)(b - a);
}

// A SYN has come: the connection is in SYN_RCVD, and its SYN is to be sent.  `most` is the longest segment to be sent.
static inline tcp_connection tcp_open(const TcpSegment *syn, const IpEnds *ends, uint32_t iss, uint32_t most) {
  const uint32_t theirs = syn->mss ? syn->mss : TCP_DEFAULT_MSS;
  const uint32_t mss = theirs < most ? theirs : most;
  return (tcp_connection){
      .phase = tcp_state_syn_received,
      .peer_mac = ends->from_mac,
      .peer = ends->from,
      .peer_port = (uint16_t)syn->from_port,
      .mss = (uint16_t)mss,
      .iss = iss,
      .snd_una = iss,
      .snd_nxt = iss,
      .snd_max = iss,
      .rcv_nxt = syn->seq + 1,
      .cwnd = mss > 2190   ? 2 * mss
              : mss > 1095 ? 3 * mss
                           : 4 * mss,
      .ssthresh = UINT32_MAX,
      .sent_crc = ETHERNET_FCS_START,
      .received_crc = ETHERNET_FCS_START,
  };
}

static inline bool tcp_is_acceptable(const tcp_connection *c, const TcpSegment *s, uint32_t window) {
  const uint32_t length = tcp_sequence_length(s), first = s->seq - c->rcv_nxt, last = first + length - 1;
  return length == 0 ? first < window : first < window || last < window;
}

// Its FIN was sent and is acknowledged.
static inline bool tcp_finished(const tcp_connection *c) {
  return c->acknowledged == c->to_send && c->snd_una == c->iss + 2 + (uint32_t)c->to_send;
}

static inline void tcp_update_window(tcp_connection *c, const TcpSegment *s) {
  const int32_t newer = tcp_distance(c->snd_wl1, s->seq);
  if (newer < 0 || (newer == 0 && tcp_distance(c->snd_wl2, s->ack) < 0)) return;
  if (c->snd_wnd == 0 && s->window != 0) c->backoff = 0;
  c->snd_wnd = s->window;
  c->snd_wl1 = s->seq;
  c->snd_wl2 = s->ack;
  if (s->window > c->max_wnd) c->max_wnd = s->window;
}

// Takes what is acknowledged off what was sent, and lets the congestion window grow.
static inline void tcp_advance(tcp_connection *c, uint32_t ack) {
  const uint32_t advance = ack - c->snd_una;
  const uint64_t left = c->to_send - c->acknowledged;
  c->acknowledged += advance < left ? advance : left;
  c->snd_una = ack;
  if (tcp_distance(c->snd_nxt, ack) > 0) c->snd_nxt = ack;
  c->cwnd += c->cwnd < c->ssthresh ? (advance < c->mss ? advance : c->mss)
                                   : (uint32_t)c->mss * c->mss / c->cwnd + (c->cwnd > (uint32_t)c->mss * c->mss);
  if (c->cwnd > 1u << 20) c->cwnd = 1u << 20;
  c->duplicates = c->backoff = 0;
  c->resend = c->probe = false;
}

static inline uint32_t tcp_half_in_flight(const tcp_connection *c) {
  const uint32_t half = (c->snd_max - c->snd_una) / 2;
  return half > 2u * c->mss ? half : 2u * c->mss;
}

// The acknowledgment of a segment; false if the segment is to be dropped.
static inline bool tcp_take_acknowledgment(tcp_connection *c, const TcpSegment *s, TcpOutcome *outcome) {
  const int32_t advance = tcp_distance(c->snd_una, s->ack);
  if (tcp_distance(c->snd_max, s->ack) > 0) {
    outcome->acknowledge = true;
    return false;
  }
  if (advance > 0) {
    tcp_advance(c, s->ack);
    outcome->progress = true;
  } else if (advance == 0 && tcp_sequence_length(s) == 0 && s->window == c->snd_wnd && c->snd_max != c->snd_una) {
    // RFC 5681, 3.2: the third duplicate says that the oldest segment is lost.
    if (c->duplicates < UINT8_MAX) c->duplicates++;
    if (c->duplicates == 3) {
      c->ssthresh = c->cwnd = tcp_half_in_flight(c);
      c->resend = true;
    }
  }
  if (advance >= 0) tcp_update_window(c, s);
  if (!tcp_finished(c)) return true;
  if (c->phase == tcp_state_fin_wait_1) c->phase = tcp_state_fin_wait_2;
  if (c->phase == tcp_state_closing) c->phase = tcp_state_time_wait;
  if (c->phase == tcp_state_last_ack) c->phase = tcp_state_closed;
  return c->phase != tcp_state_closed;
}

static inline bool tcp_receives(const tcp_connection *c) {
  return c->phase == tcp_state_established || c->phase == tcp_state_fin_wait_1 || c->phase == tcp_state_fin_wait_2;
}

// The data and the FIN of a segment that begins no later than expected.
static inline void tcp_take_data(tcp_connection *c, const TcpSegment *s, uint32_t window, TcpOutcome *outcome) {
  const uint32_t old = c->rcv_nxt - s->seq;
  if (!tcp_receives(c) || tcp_sequence_length(s) == 0) return;
  outcome->acknowledge = true;
  if (tcp_distance(c->rcv_nxt, s->seq) > 0) {
    outcome->out_of_order = true;
    return;
  }
  const uint32_t fresh = s->length > old ? s->length - old : 0, taken = fresh < window ? fresh : window;
  if (taken) {
    outcome->data = s->data + old;
    outcome->data_length = taken;
    c->rcv_nxt += taken;
    c->received += taken;
  }
  if (!(s->flags & TCP_FIN) || c->rcv_nxt != s->seq + s->length || taken == window) return;
  c->rcv_nxt++;
  if (c->phase == tcp_state_established) {
    c->phase = tcp_state_close_wait;
    c->finishing = true;
  } else {
    c->phase = c->phase == tcp_state_fin_wait_2 ? tcp_state_time_wait : tcp_state_closing;
  }
}

// The handshake's last segment, or what comes instead of it; false if the segment is to be dropped.
static inline bool tcp_establish(tcp_connection *c, const TcpSegment *s, TcpOutcome *outcome) {
  if (tcp_distance(c->snd_una, s->ack) <= 0 || tcp_distance(c->snd_max, s->ack) > 0) {
    outcome->reset = true;
    outcome->reset_seq = s->ack;
    return false;
  }
  c->phase = tcp_state_established;
  c->snd_una = c->snd_nxt = s->ack;
  c->snd_wnd = c->max_wnd = s->window;
  c->snd_wl1 = s->seq;
  c->snd_wl2 = s->ack;
  c->backoff = 0;
  c->resend = c->probe = false;
  outcome->established = outcome->progress = true;
  return true;
}

// A segment of the connection has come; `window` is what the station receives at once.
static inline TcpOutcome tcp_arrive(tcp_connection *c, const TcpSegment *s, uint32_t window) {
  TcpOutcome outcome = {0};
  if (!tcp_is_acceptable(c, s, window)) {
    outcome.acknowledge = !(s->flags & TCP_RST);
    outcome.progress = c->phase == tcp_state_time_wait && s->flags & TCP_FIN; // its acknowledgment was lost
    return outcome;
  }
  if (s->flags & TCP_RST) {
    if (s->seq == c->rcv_nxt) {
      outcome.aborted = true;
      c->phase = tcp_state_closed;
    } else {
      outcome.acknowledge = true;
    }
    return outcome;
  }
  if (s->flags & TCP_SYN) {
    outcome.aborted = c->phase == tcp_state_syn_received;
    outcome.acknowledge = !outcome.aborted;
    if (outcome.aborted) c->phase = tcp_state_closed;
    return outcome;
  }
  if (!(s->flags & TCP_ACK)) return outcome;
  c->silent = 0;
  if (c->phase == tcp_state_syn_received && !tcp_establish(c, s, &outcome)) return outcome;
  if (tcp_take_acknowledgment(c, s, &outcome)) tcp_take_data(c, s, window, &outcome);
  return outcome;
}

// Whether its timer runs: for what is not acknowledged, for a window that is closed, or for the end of TIME_WAIT.
static inline bool tcp_needs_timer(const tcp_connection *c) {
  if (c->phase == tcp_state_closed) return false;
  const bool sends = c->to_send > c->acknowledged || c->finishing;
  return c->phase == tcp_state_syn_received || c->phase == tcp_state_time_wait || c->snd_max != c->snd_una ||
         (sends && !tcp_finished(c) && c->snd_wnd == 0);
}

// The timer has run out: what is not acknowledged is sent again from the oldest byte on.  False if the peer has been
// silent for more than `retries` times; the connection is aborted then.  In TIME_WAIT it ends.
static inline bool tcp_timeout(tcp_connection *c, uint32_t retries) {
  if (c->phase == tcp_state_time_wait) {
    c->phase = tcp_state_closed;
    return true;
  }
  if (c->silent >= retries) {
    c->phase = tcp_state_closed;
    return false;
  }
  if (c->snd_wnd != 0) { // else nothing is lost: the window is probed
    if (c->backoff == 0) c->ssthresh = tcp_half_in_flight(c);
    c->cwnd = c->mss;
  }
  c->silent++;
  if (c->backoff < 16) c->backoff++;
  c->snd_nxt = c->snd_una;
  c->duplicates = 0;
  c->resend = false;
  c->probe = true;
  return true;
}

// How many bytes of data a segment at snd_nxt may carry, and in `finish` whether FIN may follow them: window and
// congestion window permit it, and it is no silly little segment (RFC 9293, 3.8.6.2.1).
static inline uint32_t tcp_sendable(const tcp_connection *c, bool *finish) {
  const uint64_t offset = c->acknowledged + (c->snd_nxt - c->snd_una);
  const uint64_t unsent = offset < c->to_send ? c->to_send - offset : 0;
  const uint32_t permitted = c->snd_wnd < c->cwnd ? c->snd_wnd : c->cwnd, flight = c->snd_nxt - c->snd_una;
  uint32_t usable = permitted > flight ? permitted - flight : 0;
  if (usable == 0 && c->probe) usable = 1;
  uint32_t length = usable < c->mss ? usable : c->mss;
  if (length > unsent) length = (uint32_t)unsent;
  if (length < c->mss && length < unsent && flight > 0 && 2 * length < c->max_wnd) length = 0;
  *finish = c->finishing && offset <= c->to_send && length == unsent && usable > length;
  return length;
}

// The next segment that the connection sends by itself, without its data, and in `offset` where these begin in the
// stream; false if there is none.  `most` is announced as its longest segment.
static inline bool tcp_next(tcp_connection *c, uint32_t most, TcpSegment *segment, uint64_t *offset) {
  *segment = (TcpSegment){.seq = c->snd_nxt, .ack = c->rcv_nxt, .flags = TCP_ACK};
  *offset = c->acknowledged + (c->snd_nxt - c->snd_una);
  if (c->phase == tcp_state_syn_received) {
    if (c->snd_nxt != c->iss) return false;
    segment->flags = TCP_SYN | TCP_ACK;
    segment->mss = most;
    c->snd_nxt = c->snd_max = c->iss + 1;
    return true;
  }
  if (c->phase == tcp_state_closed || c->phase == tcp_state_time_wait || c->phase == tcp_state_fin_wait_2) return false;
  const uint64_t left = c->to_send - c->acknowledged;
  if (c->resend && left > 0) {
    segment->seq = c->snd_una;
    segment->length = left < c->mss ? (uint32_t)left : c->mss;
    const uint32_t flight = c->snd_max - c->snd_una;
    if (segment->length > flight) segment->length = flight;
    *offset = c->acknowledged;
    c->resend = false;
    return true;
  }
  bool finish;
  segment->length = tcp_sendable(c, &finish);
  if (segment->length == 0 && !finish) return false;
  if (segment->length && *offset + segment->length == c->to_send) segment->flags |= TCP_PSH;
  c->snd_nxt += segment->length;
  if (finish) {
    segment->flags |= TCP_FIN;
    c->snd_nxt++;
    if (c->phase == tcp_state_established) c->phase = tcp_state_fin_wait_1;
    if (c->phase == tcp_state_close_wait) c->phase = tcp_state_last_ack;
  }
  // A byte into a closed window may have been dropped, and is not waited for.
  if (tcp_distance(c->snd_max, c->snd_nxt) > 0) c->snd_max = c->snd_nxt;
  if (c->probe && c->snd_wnd == 0) c->snd_nxt = segment->seq;
  c->probe = false;
  return true;
}

#endif
