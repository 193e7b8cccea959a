/* The conditional promises of a run in parts, for the model checker spin: board_post(), board_withdraw(),
 * board_agree() and board_wake() of lss/runtime/link/board.c, each access to shared memory a step of its own, and what
 * calls them, wait_for() and exchange_reach_on() of exchange.c.  Promises of senders are left out: here only the board
 * lets a part go on, so that one which acts now is posted, too.
 *
 * Steps that nobody can see in between are one: those of a part with its own variables, and the words of a seat that is
 * not posted.
 *
 * What has to hold: nobody does anything before an instant that was agreed on, nothing arrives in the past of its
 * receiver, and the parts never all sleep while one of them could go on.
 *
 * Faults that the checker has to find are planted with -D:
 *   ONE_LOOK      sequence numbers are not looked at again
 *   NO_SUMS       what is under way is not asked for
 *   LATE          a part withdraws after it has acted
 *   STALE_TICKET  the ticket is read after the last look, so that news in between are slept over */
#ifndef PARTS
#define PARTS 2
#endif
#ifndef END
#define END 3
#endif
#ifndef MOST
#define MOST 2 /* items that a part sends */
#endif
#define CUT   1
#define NEVER 15
#define ROOM  4

typedef Row { chan to[PARTS] = [ROOM] of { byte } };
Row ring[PARTS];      /* arrivals, by sender and receiver */
byte sequence[PARTS], own[PARTS], sent[PARTS], seen[PARTS]; /* the seats */
byte posted;          /* the count of seats that are posted */
byte nothing_before;
bool news_since[PARTS]; /* the ticket is another than the part has read */
bool sleeps[PARTS];

inline wake(seat) {
  if
  :: atomic { sleeps[seat] -> sleeps[seat] = false }; /* by exchange: who finds it asleep wakes it */
    news_since[seat] = true
  :: else
  fi
}

inline wake_others() {
  i = 0;
  do
  :: i < PARTS ->
    if
    :: i != me -> wake(i)
    :: else
    fi;
    i++
  :: else -> break
  od
}

/* take(): what has come moves the next event. */
inline look() {
  atomic {
  news = false;
  i = 0;
  do
  :: i < PARTS ->
    do
    :: i != me && len(ring[i].to[me]) > 0 ->
      ring[i].to[me] ? arrives;
      assert(arrives >= now);
      my_seen++;
      news = true;
      if
      :: arrives < event -> event = arrives
      :: else
      fi
    :: else -> break
    od;
    i++
  :: else -> break
  od;
  limit = nothing_before + CUT
  }
}

inline board_post() {
  d_step {
    own[me] = event;
    sent[me] = my_sent;
    seen[me] = my_seen
  }
  sequence[me] = (sequence[me] + 1) % 8 /* so many, that no look lasts until one comes again */;
  posted++;
  is_posted = true
}

inline board_withdraw() {
  posted--;
  is_posted = false;
  sequence[me] = (sequence[me] + 1) % 8 /* so many, that no look lasts until one comes again */
}

inline board_agree() {
  agreed = false;
  if
  :: posted == PARTS ->
    least = NEVER; sum_sent = 0; sum_seen = 0; i = 0; all = true;
    do
    :: i < PARTS && all ->
      first[i] = sequence[i];
      if
      :: first[i] % 2 == 0 -> all = false
      :: else ->
        d_step {
          if
          :: own[i] < least -> least = own[i]
          :: else
          fi
        };
        sum_sent = sum_sent + sent[i];
        d_step {
          sum_seen = sum_seen + seen[i];
          i++
        }
      fi
    :: else -> break
    od;
#ifndef ONE_LOOK
    i = 0;
    do
    :: i < PARTS && all ->
      all = (sequence[i] == first[i]);
      i++
    :: else -> break
    od;
#endif
#ifndef NO_SUMS
    all = all && sum_sent == sum_seen;
#endif
    if
    :: all ->
      atomic { /* the maximum, by compare and exchange */
        if
        :: nothing_before < least -> nothing_before = least; agreed = true
        :: else
        fi
      }
    :: else
    fi
  :: else
  fi
}

active [PARTS] proctype part() {
  byte me = _pid, now = 0, event = 0, limit = 0, my_sent = 0, my_seen = 0, i, arrives, least,
       sum_sent, sum_seen, first[PARTS];
  bool is_posted = false, tried = false, agreed, all, news, to_wake[PARTS];
  d_step {
    if
    :: me == 0 -> event = 0
    :: else -> event = me % 2
    fi
  }
  do
  :: limit > now && limit > event && event < END -> /* a step */
    atomic {
    assert(event >= nothing_before);
    now = event + 1;
    i = 0;
    do
    :: i < PARTS ->
      if
      :: i != me && event + CUT < END && my_sent < MOST ->
        if
        :: ring[me].to[i] ! event + CUT; my_sent++; to_wake[i] = true
        :: true
        fi
      :: else
      fi;
      i++
    :: else -> break
    od;
    if
    :: event = now
    :: event = now + 1
    :: event = NEVER
    fi
    };
#ifdef LATE
    if
    :: is_posted -> board_withdraw()
    :: else
    fi;
#endif
    i = 0;
    do /* publish(): who has got something hears of it */
    :: i < PARTS ->
      if
      :: to_wake[i] -> wake(i); to_wake[i] = false
      :: else
      fi;
      i++
    :: else -> break
    od
  :: limit > now && event > now && !tried -> /* exchange_reach_on(), once: without a look at what has come */
    tried = true;
    board_post();
    board_agree();
    if
    :: agreed -> wake_others()
    :: else
    fi;
    board_withdraw();
    limit = (nothing_before + CUT > limit -> nothing_before + CUT : limit)
  :: limit > now && (limit <= event || event >= END) -> /* nothing to do before the limit */
    now = limit
  :: limit > END -> break
  :: limit <= now && limit <= END -> /* wait_for() */
    do
    :: true ->
#ifndef STALE_TICKET
      news_since[me] = false; sleeps[me] = true;
#endif
      look();
#ifdef STALE_TICKET
      news_since[me] = false; sleeps[me] = true;
#endif
      if
      :: limit > now -> break
      :: else
      fi;
      if
      :: is_posted && news -> board_withdraw()
      :: else
      fi;
      if
      :: !is_posted -> board_post()
      :: else
      fi;
      board_agree();
      if
      :: agreed ->
        wake_others()
      :: else -> news_since[me] -> sleeps[me] = false /* board_sleep() */
      fi
    od;
    sleeps[me] = false;
#ifndef LATE
    if
    :: is_posted -> board_withdraw()
    :: else
    fi
#endif
  od
}
