/* How hosts agree on an instant before which nothing happens anywhere, for the model checker spin: agreement_turn() and
 * finish_round() of lss/runtime/carrier/agreement.c, and what carrier.c moves: items and the end of the run.  Each host has one
 * part, and a step of its own is what board.pml shows of a board: a part posts and withdraws, a carrier reads.
 *
 * An item is in the ring of its sender, then in a message, then in the ring of its receiver, and behind it the promise
 * that nothing arrives before one cut from the instant to which the sender has come.  A round ends when all hosts have
 * joined it.  The first part may end the run: then no part does anything from the instant of the end on, which is
 * as long after the instant at which it was wanted as a host may be from another.
 *
 * What has to hold: nobody does anything before an instant that was agreed on, nothing arrives in the past of its
 * receiver, nobody has gone beyond the end when its host hears of it, and the parts never all wait while one of them
 * could go on.  For the last, a host joins a round only where that could change something: what is on its way arrives
 * some time.
 *
 * With -DPROMISES parts promise while they wait; without, only when they are over, so that the agreement alone has to let
 * them go on.
 *
 * Faults that the checker has to find are planted with -D:
 *   NO_SUMS    what is under way is not asked for
 *   HOLD_ALL   whoever has nothing to do at the agreed instant waits for a change, too
 *   NO_END     a host takes an agreement although it lacks an end that another knows of */
#ifndef HOSTS
#define HOSTS 2
#endif
#ifndef END
#define END 4
#endif
#ifndef MOST
#define MOST 1 /* items that a part sends */
#endif
#define CUT      1
#define DISTANCE (CUT * (HOSTS - 1))
#define NEVER    15
#define NEWS     16 /* and the instant of the end: a message that says so */
#define PROMISE  32 /* and its instant: one that says that */

typedef Row { chan to[HOSTS] = [3] of { byte } };
Row ring[HOSTS], message[HOSTS], came[HOSTS]; /* arrivals, by sender and receiver */
byte under_way[HOSTS];                        /* items that were sent there and not seen */
byte arrived[HOSTS];                          /* those that are in its ring */

byte promised[HOSTS];        /* by the part, in its rings */
byte promise[HOSTS * HOSTS]; /* in that of a receiver, by sender and receiver */

byte now[HOSTS];
/* The board of a host, with the seat of its part. */
bool posted[HOSTS];
byte version[HOSTS], own[HOSTS], sent[HOSTS], seen[HOSTS], nothing_before[HOSTS], end_at[HOSTS];

/* The round that goes on, and what came of the last one for those who have not looked at it. */
bool joined[HOSTS], to_look[HOSTS], said_unchanged[HOSTS];
byte said_own[HOSTS], said_sent[HOSTS], said_seen[HOSTS], said_end[HOSTS];
bool all_unchanged;
byte least, least_end, sum_sent, sum_seen;

#define FROM(other) (other >= HOSTS || other == me -> NEVER : promise[(other % HOSTS) * HOSTS + me])
#define LESS(a, b)  (a < b -> a : b)
#define LEAST_PROMISE LESS(FROM(0), LESS(FROM(1), FROM(2)))
#define AGREED        (nothing_before[me] + CUT)
#define LIMIT         (LEAST_PROMISE < AGREED -> AGREED : LEAST_PROMISE)

inline board_post() {
  posted[me] = true;
  version[me] = (version[me] + 1) % 8; /* so many, that no two rounds last until one comes again */
  own[me] = event;
  sent[me] = my_sent;
  seen[me] = my_seen
}

inline board_withdraw() {
  if
  :: posted[me] -> posted[me] = false; version[me] = (version[me] + 1) % 8
  :: else
  fi
}

proctype part(byte me) {
  byte event = me % 2, limit = 0, my_sent = 0, my_seen = 0, i = 0, arrives = 0;
  bool wants_end = (me == 0), news = false;
  do
  :: limit > now[me] && limit > event && event < END && event < end_at[me] -> /* a step */
    atomic {
      assert(event >= nothing_before[me]);
      now[me] = event + 1;
      i = 0;
      do
      :: i < HOSTS ->
        if
        :: i != me && event + CUT < END && my_sent < MOST ->
          if
          :: ring[me].to[i] ! event + CUT; my_sent++; under_way[i]++
          :: true
          fi
        :: else
        fi;
        i++
      :: else -> break
      od;
      if
      :: event = now[me]
      :: event = now[me] + 1
      :: event = NEVER
      fi;
      if /* board_end(): what is known of nothing_before is asked for, since others may have gone on by it */
      :: wants_end && end_at[me] == NEVER ->
        wants_end = false;
        end_at[me] = (now[me] > nothing_before[me] -> now[me] : nothing_before[me]) + DISTANCE
      :: true
      fi
    }
  :: limit > now[me] && (limit <= event || event >= END || event >= end_at[me]) ->
    now[me] = (limit < end_at[me] -> limit : end_at[me]); /* nothing to do before the limit */
    if
    :: now[me] >= END || now[me] >= end_at[me] -> break
    :: else
    fi
  :: limit <= now[me] && now[me] < END && now[me] < end_at[me] -> /* wait_for() */
    do
    :: atomic {
        news = false;
        i = 0;
        do
        :: i < HOSTS && i != me && len(came[i].to[me]) > 0 ->
          came[i].to[me] ? arrives;
          assert(arrives >= now[me]);
          my_seen++;
          arrived[me]--;
          under_way[me]--;
          news = true;
          event = (arrives < event -> arrives : event)
        :: i < HOSTS && (i == me || len(came[i].to[me]) == 0) -> i++
        :: i == HOSTS -> break
        od;
        limit = LIMIT;
#ifdef PROMISES
        promised[me] = (now[me] + CUT < END -> now[me] + CUT : END); /* publish() */
#endif
        if
        :: limit > now[me] || now[me] >= end_at[me] -> break
        :: else
        fi;
        if
        :: posted[me] && news -> board_withdraw()
        :: else
        fi;
        if
        :: !posted[me] -> board_post()
        :: else
        fi
      }
      (LIMIT > now[me] || now[me] >= end_at[me] || arrived[me] > 0) /* board_sleep() */
    od;
    atomic { board_withdraw(); arrives = 0; news = false; i = 0 }
  :: now[me] >= END || now[me] >= end_at[me] -> break
  od;
  promised[me] = END + CUT /* exchange_pass() */
}

/* When all have joined. */
inline end_round() {
  all_unchanged = true; least = NEVER; least_end = NEVER; sum_sent = 0; sum_seen = 0; i = 0;
  do
  :: i < HOSTS ->
    all_unchanged = all_unchanged && said_unchanged[i];
    least = (said_own[i] < least -> said_own[i] : least);
    least_end = (said_end[i] < least_end -> said_end[i] : least_end);
    sum_sent = sum_sent + said_sent[i];
    sum_seen = sum_seen + said_seen[i];
    joined[i] = false; to_look[i] = true;
    said_unchanged[i] = false; said_own[i] = 0; said_sent[i] = 0; said_seen[i] = 0; said_end[i] = 0;
    i++
  :: else -> break
  od;
  i = 0
}

#define ALL_JOINED (joined[0] && joined[1] && joined[HOSTS - 1])

/* pack() to a host, of an item or of the end, and unpack() of what comes from it. */
#define MOVE(other) \
  :: atomic { \
      other != me && len(ring[me].to[other]) > 0 && nfull(message[me].to[other]) -> \
      ring[me].to[other] ? arrives; \
      message[me].to[other] ! arrives; \
      arrives = 0 \
    } \
  :: atomic { \
      other != me && end_at[me] != NEVER && !told[other] && nfull(message[me].to[other]) -> \
      told[other] = true; \
      message[me].to[other] ! NEWS + end_at[me] \
    } \
  :: atomic { /* with all that is known of the end */ \
      other != me && promised[me] > told_promise[other] && len(ring[me].to[other]) == 0 && \
          (end_at[me] == NEVER || told[other]) && nfull(message[me].to[other]) -> \
      told_promise[other] = promised[me]; \
      message[me].to[other] ! PROMISE + promised[me] \
    } \
  :: atomic { \
      other != me && len(message[other].to[me]) > 0 -> \
      message[other].to[me] ? arrives; \
      if \
      :: arrives >= PROMISE -> promise[other * HOSTS + me] = arrives - PROMISE \
      :: arrives >= NEWS && arrives < PROMISE -> \
        assert(now[me] <= arrives - NEWS); \
        end_at[me] = (arrives - NEWS < end_at[me] -> arrives - NEWS : end_at[me]); \
        waits_for_end = false \
      :: else -> came[other].to[me] ! arrives; arrived[me]++ \
      fi; \
      arrives = 0 \
    }

proctype carrier(byte me) {
  byte i = 0, arrives = 0, my_version = NEVER, my_own = 0, told_promise[HOSTS];
  bool holds = false, counts = false, waits_for_items = false, waits_for_end = false, told[HOSTS];
end:
  do
  MOVE(0)
  MOVE(1)
#if HOSTS > 2
  MOVE(2)
#endif
  :: atomic { /* finish_round() */
      to_look[me] ->
      to_look[me] = false;
      counts = all_unchanged;
#ifndef NO_SUMS
      counts = counts && sum_sent == sum_seen;
#endif
#ifndef NO_END
      counts = counts && end_at[me] <= least_end;
#endif
#ifdef HOLD_ALL
      holds = counts;
#else
      holds = counts && my_own == least;
#endif
      waits_for_items = all_unchanged && sum_sent != sum_seen;
      waits_for_end = all_unchanged && sum_sent == sum_seen && end_at[me] > least_end;
      if
      :: counts && least > nothing_before[me] -> nothing_before[me] = least /* board_agreed() */
      :: else
      fi;
      counts = false
    }
  :: atomic { /* agreement_turn() */
      !joined[me] && !to_look[me] && posted[me] && !(holds && version[me] == my_version) &&
          !(waits_for_items && under_way[me] > 0) && !waits_for_end ->
      joined[me] = true;
      said_unchanged[me] = (version[me] == my_version);
      said_own[me] = own[me]; said_sent[me] = sent[me]; said_seen[me] = seen[me]; said_end[me] = end_at[me];
      my_version = version[me]; my_own = own[me];
      holds = false; waits_for_items = false;
      if
      :: ALL_JOINED -> end_round()
      :: else
      fi
    }
  od
}

init {
  byte h = 0;
  atomic {
    do
    :: h < HOSTS -> end_at[h] = NEVER; run part(h); run carrier(h); h++
    :: else -> break
    od
  }
}
