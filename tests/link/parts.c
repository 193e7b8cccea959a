// Toy machines in parts, over the rings and the board of lss/runtime/link without the engine, against the same machines
// in one process: the state of every part at the end has to be equal, whatever the host does to the processes.
//
//   parts SEED COUNT END [threads] [hosts=N] [meet=N] [spin=N] [stops=N] [ends] [kill] [hostile=KIND] [runs=N]
//
// A part has a clock, events of its own at instants that depend on its state, sometimes far away or never, and links to
// others.  An event or an item that arrives changes the state, and may send items.  `stops` lets the parent stop and
// continue random children; `ends` lets a part end the run when it has done so many events; `kill` kills one.  A
// hostile part writes nonsense where the others read, or a carrier garbles its messages; then a line says what, and
// nothing else counts.  With `hosts` the parts share memory with those of the same host only, and a carrier for each
// host moves what goes to others (hosts.c).  With `meet` all parts meet each so many ticks, and what all say changes
// the state of each.
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lss/runtime/link/exchange.h"
#include "tests/emulib/check.h"
#include "tests/link/hosts.h"

enum { MOST_PARTS = 200, MOST_LINKS = 800, MOST_HOSTS = 16, SLOTS = 40, NEVER_ENDS = 1 << 30 };

// ---- The machine

typedef struct {
  uint32_t from, to;
  uint64_t cut;
} Link;

typedef struct {
  uint64_t value, spare;
} Item;

typedef struct {
  uint64_t arrives[SLOTS];
  Item item[SLOTS];
  uint32_t head, held;
} Flight;

typedef struct {
  uint64_t period, next_event, hash, events, ended; // ended: the instant at which it had done its events; 0: not yet
} Part;

static struct {
  uint32_t count, links, ender;
  uint64_t end, distance, events_to_end;
  Link link[MOST_LINKS];
  Part part[MOST_PARTS];
} machine;

static uint64_t meet_every; // ticks; 0: never

static uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
  return a ^ a >> 29;
}

static uint64_t pick(uint64_t *state, uint64_t n) {
  *state = mix(*state, 0x1234567);
  return (*state >> 11) % n;
}

static void build(uint64_t seed, uint32_t count, uint64_t end, bool ends) {
  uint64_t random = mix(seed, 99);
  memset(&machine, 0, sizeof machine);
  machine.count = count;
  machine.end = end;
  uint64_t cut = 0;
  const uint64_t kind = pick(&random, ends ? 2 : 3); // a ring, a star, anything
  for (uint32_t i = 0; i < count; i++) {
    machine.part[i] = (Part){.period = 1 + pick(&random, 7), .hash = mix(seed, i)};
    for (uint64_t k = 0; k < (kind == 2 ? 1 + pick(&random, 3) : 1); k++) {
      const uint32_t to = kind == 0 ? (i + 1) % count : kind == 1 ? 0 : (uint32_t)pick(&random, count);
      if (to == i || machine.links + 2 > MOST_LINKS) continue;
      machine.link[machine.links++] = (Link){i, to, 1 + pick(&random, 60)};
      // A run ends at one instant only where a way leads from every part to every other.
      if (kind != 0 && (ends || pick(&random, 8))) machine.link[machine.links++] = (Link){to, i, 1 + pick(&random, 60)};
    }
  }
  for (uint32_t l = 0; l < machine.links; l++)
    if (machine.link[l].cut > cut) cut = machine.link[l].cut;
  machine.distance = cut * count;
  machine.ender = (uint32_t)pick(&random, count);
  machine.events_to_end = NEVER_ENDS;
}

typedef void (*Send)(void *data, uint32_t link, uint64_t now, uint64_t arrives, Item item);

// What happens after a change of state: items leave, and the next event is chosen.
static void act(uint32_t number, uint64_t now, Send send, void *data) {
  Part *part = &machine.part[number];
  for (uint32_t l = 0; l < machine.links; l++)
    if (machine.link[l].from == number && pick(&part->hash, 3) == 0)
      send(data, l, now, now + machine.link[l].cut + pick(&part->hash, 5), (Item){part->hash, now});
  const uint64_t choice = pick(&part->hash, 40);
  part->next_event = choice == 0  ? UINT64_MAX
                     : choice < 4 ? now + 200 + pick(&part->hash, 3000)
                                  : now + 1 + pick(&part->hash, 30);
}

static bool is_due(const Part *part, const Flight *flights, uint32_t number, uint64_t now) {
  if (part->next_event <= now) return true;
  for (uint32_t l = 0; l < machine.links; l++)
    if (machine.link[l].to == number && flights[l].held && flights[l].arrives[flights[l].head] <= now) return true;
  return false;
}

// A step at an edge of the part's clock.
static void step(uint32_t number, Flight *flights, uint64_t now, Send send, void *data) {
  Part *part = &machine.part[number];
  if (!is_due(part, flights, number, now)) return;
  for (uint32_t l = 0; l < machine.links; l++) {
    Flight *flight = &flights[l];
    if (machine.link[l].to != number || !flight->held || flight->arrives[flight->head] > now) continue;
    part->hash = mix(mix(part->hash, flight->item[flight->head].value), now + l);
    flight->head = (flight->head + 1) % SLOTS;
    flight->held--;
  }
  part->hash = mix(part->hash, now);
  part->events++;
  if (number == machine.ender && part->events == machine.events_to_end) part->ended = now + 1;
  act(number, now, send, data);
}

static bool put(Flight *flight, uint64_t arrives, const Item *item) {
  if (flight->held == SLOTS) return false;
  const uint32_t at = (flight->head + flight->held++) % SLOTS;
  flight->arrives[at] = arrives;
  flight->item[at] = *item;
  return true;
}

static uint64_t edge_at(const Part *part, uint64_t instant) {
  return instant == UINT64_MAX ? instant : (instant + part->period - 1) / part->period * part->period;
}

// When a part does something by itself.
static uint64_t own_event(uint32_t number, const Flight *flights, uint64_t now) {
  const Part *part = &machine.part[number];
  uint64_t first = part->next_event;
  for (uint32_t l = 0; l < machine.links; l++)
    if (machine.link[l].to == number && flights[l].held && flights[l].arrives[flights[l].head] < first)
      first = flights[l].arrives[flights[l].head];
  return edge_at(part, first < now ? now : first);
}

// What a part says at a meeting, and what it hears of another one.
static void say(uint32_t number, uint64_t at, uint64_t *words) {
  const Part *part = &machine.part[number];
  memcpy(words, (uint64_t[BOARD_NOTE]){part->hash, part->events, at, number}, BOARD_NOTE * sizeof *words);
}

static uint64_t hear(uint64_t heard, const uint64_t *words) {
  for (uint32_t i = 0; i < BOARD_NOTE; i++) heard = mix(heard, words[i]);
  return heard;
}

// The state of a part, with what is on its way to it.
static uint64_t state_of(uint32_t number, const Flight *flights) {
  uint64_t hash = mix(machine.part[number].hash, machine.part[number].events);
  for (uint32_t l = 0; l < machine.links; l++)
    for (uint32_t i = 0; machine.link[l].to == number && i < flights[l].held; i++) {
      const uint32_t at = (flights[l].head + i) % SLOTS;
      hash = mix(mix(mix(hash, l), flights[l].arrives[at]), flights[l].item[at].value);
    }
  return hash;
}

// ---- In one process

static bool overflowed; // a flight is full: that machine is no test
static Flight whole_flights[MOST_LINKS];

static void send_whole(void *data, uint32_t link, uint64_t now, uint64_t arrives, Item item) {
  (void)data, (void)now;
  overflowed |= !put(&whole_flights[link], arrives, &item);
}

static void meet_whole(uint64_t now) {
  uint64_t heard = 0, words[BOARD_NOTE];
  for (uint32_t i = 0; i < machine.count; i++) {
    say(i, now, words);
    heard = hear(heard, words);
  }
  for (uint32_t i = 0; i < machine.count; i++) machine.part[i].hash = mix(machine.part[i].hash, heard);
}

// Returns the instant at which the run ends; the states go to `states`.
static uint64_t run_whole(uint64_t *states) {
  memset(whole_flights, 0, sizeof whole_flights);
  overflowed = false;
  uint64_t end = machine.end;
  for (uint64_t now = 0; now < end; now++) {
    if (meet_every && now && now % meet_every == 0) meet_whole(now);
    for (uint32_t i = 0; i < machine.count; i++) {
      if (now % machine.part[i].period == 0) step(i, whole_flights, now, send_whole, NULL);
      // It is noticed at the next edge.
      if (machine.part[i].ended && end == machine.end && i == machine.ender) {
        const uint64_t at = edge_at(&machine.part[i], machine.part[i].ended) + machine.distance;
        if (at < end) end = at;
      }
    }
  }
  for (uint32_t i = 0; i < machine.count; i++) states[i] = state_of(i, whole_flights);
  return end;
}

// ---- In parts

typedef struct {
  uint64_t state, end, waits, stepped;
  char fault[200];
} Result;

typedef struct {
  uint32_t number, spin;
  uint64_t meets_at, met; // the next meeting, and those before
  Exchange exchange;
  Flight *flights;                 // of all links, of which those to this part are used
  uint32_t of_machine[MOST_LINKS]; // incoming links
  uint32_t out_of[MOST_LINKS];     // a link of the machine as an outgoing one
} Process;

static uint8_t *shared[MOST_HOSTS];
static uint32_t host_of[MOST_PARTS], host_count;
static Result *results;
static size_t ring_at[MOST_LINKS];

static void send_cut(void *data, uint32_t link, uint64_t now, uint64_t arrives, Item item) {
  Process *process = data;
  exchange_send(&process->exchange, process->out_of[link], now, arrives, &item);
}

static bool deliver(void *data, uint32_t link, const RingEntry *entry, const void *item) {
  Process *process = data;
  return put(&process->flights[process->of_machine[link]], entry->arrives, item);
}

static uint64_t own(void *data, uint64_t now, uint64_t *since) {
  (void)since;
  const Process *process = data;
  const uint64_t event = own_event(process->number, process->flights, now);
  return event < process->meets_at ? event : process->meets_at < now ? now : process->meets_at;
}

static void attach(Process *process) {
  Exchange *exchange = &process->exchange;
  exchange->in = calloc(machine.links + 1, sizeof(ExchangeLink));
  exchange->out = calloc(machine.links + 1, sizeof(ExchangeLink));
  process->flights = calloc(machine.links + 1, sizeof(Flight));
  CHECK(exchange->in && exchange->out && process->flights);
  uint8_t *memory = shared[host_of[process->number]];
  CHECK(board_attach(&exchange->board, memory, machine.count, process->number));
  for (uint32_t l = 0; l < machine.links; l++) {
    const Link *link = &machine.link[l];
    const bool comes = link->to == process->number, leaves = link->from == process->number;
    if (!comes && !leaves) continue;
    ExchangeLink *end = comes ? &exchange->in[exchange->in_count] : &exchange->out[exchange->out_count];
    end->peer = comes ? link->from : link->to;
    if (comes) process->of_machine[exchange->in_count++] = l;
    if (leaves) process->out_of[l] = exchange->out_count++;
    ring_attach(&end->ring, memory + ring_at[l], sizeof(Item), SLOTS, link->cut);
  }
  exchange->data = process;
  exchange->deliver = deliver;
  exchange->own = own;
  exchange->spin = process->spin;
  CHECK(exchange_begin(exchange));
}

static void finish(Process *process, uint64_t end) {
  Exchange *exchange = &process->exchange;
  Result *result = &results[process->number];
  while (!exchange_complete(exchange, end) && board_end_at(&exchange->board) < end)
    end = board_end_at(&exchange->board);
  if (!exchange->fault) exchange_pass(exchange, end);
  result->state = state_of(process->number, process->flights);
  result->end = end;
  result->waits = exchange->waits;
  if (exchange->fault)
    snprintf(result->fault, sizeof result->fault, "%s (part %u)", exchange->fault, exchange->fault_part);
  else if (board_is_broken(&exchange->board))
    snprintf(result->fault, sizeof result->fault, "somebody is gone");
  if (exchange->fault) board_break(&exchange->board, exchange->fault_part);
  board_leave(&exchange->board);
  exchange_end(exchange);
  board_detach(&exchange->board);
  free(exchange->in);
  free(exchange->out);
  free(process->flights);
}

// All instants before the next meeting are over here.  False: the run ends before it.
static bool meet(Process *process) {
  Exchange *exchange = &process->exchange;
  const uint64_t at = process->meets_at;
  uint64_t heard = 0, words[BOARD_NOTE];
  if (board_end_at(&exchange->board) <= at) return false;
  process->meets_at = at + meet_every < machine.end ? at + meet_every : UINT64_MAX;
  say(process->number, at, words);
  board_attend(&exchange->board, ++process->met, words);
  if (!exchange_attend(exchange, at, process->met)) return false;
  for (uint32_t i = 0; i < machine.count; i++) {
    board_note(&exchange->board, i, process->met, words);
    heard = hear(heard, words);
  }
  machine.part[process->number].hash = mix(machine.part[process->number].hash, heard);
  return true;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static void run_part(Process *process) {
  Part *part = &machine.part[process->number];
  Exchange *exchange = &process->exchange;
  attach(process);
  char hash[BOARD_HASH + 1], other[BOARD_HASH + 1];
  uint32_t first;
  memset(hash, 'a', sizeof hash);
  CHECK(board_claim(&exchange->board, hash, &first, other) && first < machine.count);
  CHECK(board_begins(&exchange->board, 0) && !board_begins(&exchange->board, 1));
  CHECK(board_sit(&exchange->board, (uint32_t)getpid()));
  CHECK(!board_sit(&exchange->board, (uint32_t)getpid()));
  for (int i = 0; i < 20000 && !board_is_full(&exchange->board); i++) usleep(100);
  if (!board_is_full(&exchange->board)) board_break(&exchange->board, board_missing(&exchange->board));
  CHECK(!board_is_full(&exchange->board) == (board_missing(&exchange->board) < machine.count));
  uint64_t now = 0;
  while (now < machine.end || process->meets_at <= now) {
    if (process->meets_at <= now) {
      if (!meet(process)) break;
      continue;
    }
    const uint64_t limit = exchange_reach(exchange, now);
    if (limit <= now) break;
    const uint64_t stop = least(limit, least(machine.end, process->meets_at));
    while (now < stop) { // as far as it may: over idle time at once
      const uint64_t next = own_event(process->number, process->flights, now);
      if (next >= stop) {
        now = edge_at(part, stop);
        break;
      }
      now = next;
      step(process->number, process->flights, now, send_cut, process);
      results[process->number].stepped++;
      now += part->period;
      if (part->ended) {
        const uint64_t nothing = board_nothing_before(&exchange->board), at = nothing > now ? nothing : now;
        board_end(&exchange->board, BOARD_ENDS, at + machine.distance, "its events are done");
        part->ended = 0;
        break;
      }
    }
  }
  const uint64_t agreed = board_end_at(&exchange->board);
  finish(process, agreed < machine.end ? agreed : machine.end);
}

static void run_carrier(uint32_t host, uint64_t seed, bool garbles) {
  static Carrier carrier;
  static CarriedLink links[MOST_LINKS];
  uint32_t seat = 0;
  while (seat + 1 < machine.count && host_of[seat] == host) seat++;
  carrier = (Carrier){.host = host, .host_count = host_count, .host_of = host_of, .links = links};
  CHECK(board_attach(&carrier.board, shared[host], machine.count, seat));
  for (uint32_t l = 0; l < machine.links; l++) {
    const uint32_t from = machine.link[l].from, to = machine.link[l].to;
    const bool leaves = host_of[from] == host;
    if (leaves == (host_of[to] == host)) continue;
    CarriedLink *link = &links[carrier.link_count++];
    *link = (CarriedLink){.leaves = leaves, .number = l, .part = leaves ? from : to, .peer = leaves ? to : from};
    link->host = host_of[link->peer];
    ring_attach(&link->ring, shared[host] + ring_at[l], sizeof(Item), SLOTS, machine.link[l].cut);
  }
  hosts_carry(&carrier, seed, garbles);
  board_detach(&carrier.board);
  exit(0);
}

// ---- Those who disturb

static void sleep_for(long microseconds) {
  nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000}, NULL);
}

// Writes nonsense into what it shares, until the others have noticed.
static void run_hostile(Process *process, const char *kind, uint64_t seed) {
  attach(process);
  Exchange *exchange = &process->exchange;
  board_sit(&exchange->board, (uint32_t)getpid());
  if (!strcmp(kind, "leaves")) {
    board_leave(&exchange->board);
    _exit(0);
  }
  for (int i = 0; i < 3000; i++) {
    for (uint32_t l = 0; l < exchange->out_count + exchange->in_count; l++) {
      const bool leaves = l < exchange->out_count;
      Ring *ring = leaves ? &exchange->out[l].ring : &exchange->in[l - exchange->out_count].ring;
      RingMemory *memory = ring->memory;
      const uint64_t random = pick(&seed, UINT64_MAX) >> pick(&seed, 64);
      if (!strcmp(kind, "promise") && leaves) memory->promise = random;
      if (!strcmp(kind, "tail") && leaves) memory->tail = random;
      if (!strcmp(kind, "head") && !leaves) memory->head = random;
      if (!strcmp(kind, "entries") && leaves) {
        for (size_t k = 0; k < (size_t)ring->capacity * ring->stride; k++)
          memory->entries[k] = (uint8_t)pick(&seed, 256);
        memory->tail += 1 + pick(&seed, 3);
        memory->promise += 50;
      }
      if (!strcmp(kind, "board"))
        for (size_t k = 0; k < sizeof(BoardSeat); k++)
          if (k < offsetof(BoardSeat, process) || k >= offsetof(BoardSeat, over))
            ((uint8_t *)process->exchange.board.mine)[k] = (uint8_t)pick(&seed, 256);
      if (!strcmp(kind, "board")) exchange->board.memory->nothing_before = random;
    }
    sleep_for(100);
  }
  _exit(0);
}

static void *thread(void *data) {
  run_part(data);
  return NULL;
}

static void stop_and_continue(pid_t *children, uint32_t count, uint64_t stops, uint64_t *random) {
  for (uint64_t i = 0; i < stops; i++) {
    const pid_t child = children[pick(random, count)];
    kill(child, SIGSTOP);
    sleep_for((long)pick(random, pick(random, 4) ? 2000 : 20000));
    kill(child, SIGCONT);
    sleep_for((long)pick(random, 500));
  }
}

typedef struct {
  uint64_t seed, stops;
  uint32_t spin, hosts;
  bool threads, ends, kill;
  const char *hostile;
} Options;

// Runs the machine in parts; the machine itself is as built.
static void run_parts(const Options *options) {
  static Process processes[MOST_PARTS];
  pid_t children[MOST_PARTS + MOST_HOSTS];
  pthread_t threads[MOST_PARTS];
  uint64_t random = mix(options->seed, 7);
  memset(processes, 0, sizeof processes);
  const bool garbles = options->hostile && !strcmp(options->hostile, "messages");
  const bool one = (options->hostile && !garbles) || options->kill;
  const uint32_t disturber = one ? (uint32_t)pick(&random, machine.count) : UINT32_MAX;
  for (uint32_t i = 0; i < machine.count; i++) {
    processes[i] = (Process){.number = i, .spin = options->spin};
    processes[i].meets_at = meet_every && meet_every < machine.end ? meet_every : UINT64_MAX;
    if (options->threads) {
      CHECK(!pthread_create(&threads[i], NULL, thread, &processes[i]));
      continue;
    }
    CHECK((children[i] = fork()) >= 0);
    if (children[i]) continue;
    if (options->hostile && i == disturber) run_hostile(&processes[i], options->hostile, random);
    run_part(&processes[i]);
    exit(0);
  }
  if (options->threads) {
    for (uint32_t i = 0; i < machine.count; i++) pthread_join(threads[i], NULL);
    return;
  }
  const uint32_t carriers = host_count > 1 ? host_count : 0;
  for (uint32_t i = 0; i < carriers; i++) {
    CHECK((children[machine.count + i] = fork()) >= 0);
    if (!children[machine.count + i]) run_carrier(i, options->seed, i == 0 && garbles);
  }
  stop_and_continue(children, machine.count + carriers, options->stops, &random);
  if (options->kill) {
    sleep_for((long)pick(&random, 3000));
    kill(children[disturber], SIGKILL);
  }
  for (uint32_t i = 0; i < machine.count + carriers; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    if (i == disturber && (WIFSIGNALED(status) || options->hostile)) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fprintf(stderr, "part %u: status %x\n", i, status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static void map_shared(void) {
  size_t size = board_bytes(machine.count);
  for (uint32_t l = 0; l < machine.links; l++) {
    ring_at[l] = size;
    size += ring_bytes(sizeof(Item), SLOTS);
  }
  for (uint32_t i = 0; i < host_count; i++) {
    shared[i] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared[i] != MAP_FAILED);
  }
  results = mmap(NULL, sizeof(Result) * MOST_PARTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(results != MAP_FAILED);
}

// Each host has a part.
static void choose_hosts(const Options *options) {
  uint64_t random = mix(options->seed, 31);
  host_count = options->hosts;
  for (uint32_t i = 0; i < machine.count; i++) host_of[i] = i < host_count ? i : (uint32_t)pick(&random, host_count);
  if (host_count > 1) hosts_connect(host_count);
}

// False: the machine is no test.
static bool try_machine(const Options *options, uint32_t count, uint64_t end) {
  const bool disturbed = options->hostile || options->kill;
  uint64_t states[MOST_PARTS], ended = 0;
  build(options->seed, count, end, options->ends || disturbed);
  if (options->ends) machine.events_to_end = 1 + options->seed % 200;
  if (!disturbed) ended = run_whole(states);
  if (!disturbed && overflowed) return false;
  build(options->seed, count, end, options->ends || disturbed);
  if (options->ends) machine.events_to_end = 1 + options->seed % 200;
  choose_hosts(options);
  map_shared();
  run_parts(options);
  if (host_count > 1) hosts_disconnect();
  uint64_t faults = 0, waits = 0;
  for (uint32_t i = 0; i < count; i++) {
    waits += results[i].waits;
    if (*results[i].fault) {
      if (!disturbed) fprintf(stderr, "part %u: %s\n", i, results[i].fault);
      CHECK(disturbed);
      if (!faults++) printf("seed %" PRIu64 ": part %u: %s\n", options->seed, i, results[i].fault);
      continue;
    }
    if (disturbed) continue;
    if (results[i].state != states[i] || results[i].end != ended)
      fprintf(stderr,
              "seed %" PRIu64 ", part %u: ends at %" PRIu64 " with %016" PRIx64 ", not at %" PRIu64 " with %016" PRIx64
              "\n",
              options->seed, i, results[i].end, results[i].state, ended, states[i]);
    CHECK(results[i].state == states[i] && results[i].end == ended);
  }
  if (!disturbed)
    printf("seed %" PRIu64 ": %u parts, %u links, to %" PRIu64 ", %" PRIu64 " waits\n", options->seed, count,
           machine.links, ended, waits);
  for (uint32_t i = 0; i < host_count; i++) munmap(shared[i], ring_at[0]);
  return true;
}

int main(int argc, char **argv) {
  CHECK(argc >= 4);
  Options options = {.seed = strtoull(argv[1], NULL, 10), .spin = 50, .hosts = 1};
  uint64_t runs = 1;
  for (int i = 4; i < argc; i++) {
    options.threads |= !strcmp(argv[i], "threads");
    options.ends |= !strcmp(argv[i], "ends");
    options.kill |= !strcmp(argv[i], "kill");
    if (!strncmp(argv[i], "spin=", 5)) options.spin = (uint32_t)atoi(argv[i] + 5);
    if (!strncmp(argv[i], "meet=", 5)) meet_every = strtoull(argv[i] + 5, NULL, 10);
    if (!strncmp(argv[i], "hosts=", 6)) options.hosts = (uint32_t)atoi(argv[i] + 6);
    if (!strncmp(argv[i], "stops=", 6)) options.stops = strtoull(argv[i] + 6, NULL, 10);
    if (!strncmp(argv[i], "runs=", 5)) runs = strtoull(argv[i] + 5, NULL, 10);
    if (!strncmp(argv[i], "hostile=", 8)) options.hostile = argv[i] + 8;
  }
  const uint32_t count = (uint32_t)atoi(argv[2]);
  CHECK(count >= 2 && count <= MOST_PARTS && options.hosts && options.hosts <= count && options.hosts <= MOST_HOSTS);
  setvbuf(stdout, NULL, _IONBF, 0);
  for (uint64_t done = 0; done < runs; options.seed++)
    done += try_machine(&options, count, strtoull(argv[3], NULL, 10));
  return 0;
}
