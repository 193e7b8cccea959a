"""Machines of caches and devices on a system bus, checked against one flat memory."""

from tests.modules.harness import Bench, Memory, Ran, collect

LINE, LANES = 32, 2
INVALID, SHARED, EXCLUSIVE, MODIFIED = range(4)
# A cache for one processor that sees its own loads and stores in order.
ORDERED = "mshrs = 1; targets = 1; total_store_order = true;"


def alone(misses: str = "") -> str:
    """A cache between scripts of a requester and of a bus."""
    return f"""
import memory_types; import coherence_types;
instance requester : memory_source; instance snoop : source; instance response : source; instance request : sink; instance answer : sink;
instance dut : mshr_controller {{ width = 64; line = {LINE}; sets = 2; ways = 2; {misses} }};
requester.memory -> dut.in;
dut.bus.request -> request.in; dut.bus.snoop_response -> answer.in; snoop.out -> dut.bus.snoop; response.out -> dut.bus.response;
{collect("dut", "transition(address, next)", "performed(op, address, size, value)", "maintain(address, operation)")}
"""


def snoop(cycle: int, op: str, own: bool = False, address: int = 0, tag: int = 0, number: int = 0, conditional: bool = False) -> str:
    return f"{cycle} {{op={op} own={str(own).lower()} address={address} tag={tag} number={number} conditional={str(conditional).lower()}}} once\n"


def response(cycle: int, *, shared: bool = False, filled: bool = True, lost: bool = False, data: int = 0x1122) -> str:
    return f"{cycle} {{tag=0 shared={str(shared).lower()} filled={str(filled).lower()} lost={str(lost).lower()} error=false bytes={data:#x}}} once\n"


# What each agent reads is compared with a flat memory, which writes reach in the order of the events: that in which the caches have the
# lines to write.  A write of a device is there when its snoop has been answered by all; a read of it sees what was there then.
CHECKER = """
shared collector flat on "cache[0]" event performed {
  include <<<
    #include <string.h>
    enum { FLAT_READ = 0, FLAT_LINK = 6, FLAT_CONDITIONAL = 7, FLAT_INVALID = 0, FLAT_EXCLUSIVE = 2, FLAT_MODIFIED = 3 }; /* mem_op, line_state */
    typedef struct { uint32_t address, size, count; uint64_t value[64]; } flat_window; /* a read of a device below: what it may read */
    typedef struct {
      uint8_t bytes[4096];
      uint8_t state[8][4096 / %(line)d], level[8][4096 / %(line)d], before[8][4096 / %(line)d];
      flat_window window[32];
      uint64_t now, level_since[8][4096 / %(line)d], void_from[8][4096 / %(line)d]; /* a copy that its cache does not know to be void, from the next cycle on */
      uint64_t expected[32];
      uint32_t link[8];
      uint64_t linked, reads, writes, conditionals, transitions;
    } flat_memory;
    static inline uint64_t flat_read(const flat_memory *m, uint32_t address, uint32_t size) {
      uint64_t value = 0;
      memcpy(&value, m->bytes + address, size < 8 ? size : 8);
      return value;
    }
    static inline int flat_state(const flat_memory *m, int agent, uint32_t line) {
      const uint64_t end = m->void_from[agent][line];
      return end > 0 && m->now >= end ? FLAT_INVALID : m->state[agent][line];
    }
    static inline void flat_level(flat_memory *m, int k, uint32_t line, int next, uint64_t now) {
      if (m->level_since[k][line] != now) m->before[k][line] = m->level[k][line];
      m->level_since[k][line] = now;
      m->level[k][line] = (uint8_t)next;
    }
    /* Whether a level 2 had a line in this state or a higher one when this cycle began, or has it: which of two things in a cycle is first is not asked. */
    static inline bool flat_includes(const flat_memory *m, int k, uint32_t line, int state) {
      return m->level[k][line] >= state || (m->level_since[k][line] == m->now && m->before[k][line] >= state);
    }
    static inline void flat_widen(const flat_memory *m, flat_window *window) {
      if (window->size > 0 && window->count < 64) window->value[window->count++] = flat_read(m, window->address, window->size);
    }
    static inline bool flat_was_there(const flat_window *window, uint64_t value) {
      for (uint32_t j = 0; j < window->count; j++) if (window->value[j] == value) return true;
      return false;
    }
    static inline void flat_write(flat_memory *m, int agent, uint32_t address, uint32_t size, uint64_t value) {
      memcpy(m->bytes + address, &value, size < 8 ? size : 8);
      m->writes++;
      for (int k = 0; k < 32; k++) flat_widen(m, &m->window[k]);
      for (int k = 0; k < 8; k++)
        if (k != agent && m->link[k] == address / %(line)d) m->linked &= ~(UINT64_C(1) << k);
    }
    /* 0 if all is well, else what is wrong. */
    static inline const char *flat_access(flat_memory *m, int agent, int op, uint32_t address, uint32_t size, uint64_t value) {
      const uint64_t mask = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : ~UINT64_C(0);
      if (op == FLAT_LINK) m->link[agent] = address / %(line)d, m->linked |= UINT64_C(1) << agent;
      if (flat_state(m, agent, address / %(line)d) == FLAT_INVALID) return "uses what it has not";
      if (op == FLAT_READ || op == FLAT_LINK) {
        m->reads++;
        return (value & mask) == flat_read(m, address, size) ? NULL : "reads something else than was written";
      }
      if (flat_state(m, agent, address / %(line)d) != FLAT_MODIFIED) return "writes what it does not own";
      if (op == FLAT_CONDITIONAL && !(m->linked >> agent & 1)) return "stores although another wrote behind its load_linked";
      m->conditionals += op == FLAT_CONDITIONAL;
      flat_write(m, agent, address, size, value & mask);
      return NULL;
    }
    static inline const char *flat_transition(flat_memory *m, int agent, uint32_t address, int next) {
      const uint32_t line = address / %(line)d;
      m->state[agent][line] = (uint8_t)next;
      m->void_from[agent][line] = 0;
      m->transitions++;
      for (int k = 0; k < 8; k++)
        if (k != agent && flat_state(m, k, line) != FLAT_INVALID && (next >= FLAT_EXCLUSIVE || (next != FLAT_INVALID && m->state[k][line] >= FLAT_EXCLUSIVE)))
          return "two caches have the line, and one believes that it is the only one";
      return NULL;
    }
  >>>
  declare <<< flat_memory m; >>>
  record <<< self->m.now = cycle; const char *wrong = flat_access(&self->m, 0, op, address, size, value); if (wrong) report_error("cycle %%llu, 0x%%x: cache 0 %%s: 0x%%llx, 0x%%llx", (unsigned long long)cycle, (unsigned)address, wrong, (unsigned long long)value, (unsigned long long)flat_read(&self->m, address, size)); >>>
  %(more)s
  report <<<
    report_value("reads", self->m.reads, "reads", "Compared.");
    report_value("writes", self->m.writes, "writes", "Written.");
    report_value("conditionals", self->m.conditionals, "writes", "Store_conditionals that stored.");
    report_value("transitions", self->m.transitions, "transitions", "Of lines.");
  >>>
}
"""
ACCESS = """record on "%(path)s" event performed <<< self->m.now = cycle; const char *wrong = flat_access(&self->m, %(i)d, op, address, size, value); if (wrong) report_error("cycle %%llu, 0x%%x: cache %(i)d %%s: 0x%%llx, 0x%%llx", (unsigned long long)cycle, (unsigned)address, wrong, (unsigned long long)value, (unsigned long long)flat_read(&self->m, address, size)); >>>"""
TRANSITION = """record on "%(path)s" event transition <<< self->m.now = cycle; const char *wrong = flat_transition(&self->m, %(i)d, address, next); if (wrong) report_error("cycle %%llu, 0x%%x: %%s", (unsigned long long)cycle, (unsigned)address, wrong); >>>"""
DEVICE = """record on "port" event ordered <<< if (op == FLAT_READ) self->m.expected[tag %% 32] = flat_read(&self->m, address, size); else flat_write(&self->m, 7, address, size, value); >>>
  record on "port" event performed <<< if (op == FLAT_READ) { self->m.reads++; if (value != self->m.expected[tag %% 32]) report_error("cycle %%llu, 0x%%x: the device reads 0x%%llx, not 0x%%llx", (unsigned long long)cycle, (unsigned)address, (unsigned long long)value, (unsigned long long)self->m.expected[tag %% 32]); } >>>"""
# Processors: mostly reads and writes of 1 to 8 bytes, atomic operations, barriers, maintenance; two of sixteen are a pair of load_linked and store_conditional.
GENERATE = """<<<
  static const uint8_t ops[16] = {mem_op_read, mem_op_read, mem_op_read, mem_op_read, mem_op_read, mem_op_read, mem_op_write, mem_op_write, mem_op_write,
    mem_op_write, mem_op_write, mem_op_swap, mem_op_fetch_add, mem_op_take_run, mem_op_read, mem_op_maintain};
  typeof_port(memory_request) request = {.op = (mem_op)ops[random >> 60], .size = (uint8_t)(1 << (random >> 58 & 3)), .tag = (uint32_t)index};
  const uint64_t place = index % 16 >= 14 ? (index / 16 + 1) * UINT64_C(0x9e3779b97f4a7c15) : random;
  if (index % 16 >= 14) request.op = index % 16 == 14 ? mem_op_load_linked : mem_op_store_conditional;
  if (request.op == mem_op_read && (random >> 50 & 63) == 0) request.op = mem_op_barrier;
  request.address = (uint32_t)((place >> 20) % POOL);
  if (index % 16 >= 14) request.size = 4;
  request.address &= ~(uint32_t)(request.size - 1);
  request.data = request.op == mem_op_maintain ? (random >> 30 & 1 ? 12 : 4) : random * UINT64_C(0xff51afd7ed558ccd);
  return request;
>>>"""
# A device: parts of lines and whole ones, reads of 8 bytes.
DEVICE_GENERATE = """<<<
  typeof_port(memory_request) request = {.op = random >> 63 ? mem_op_read : mem_op_write, .size = (uint8_t)(1 << (random >> 60 & 3)), .tag = (uint32_t)index};
  request.address = (uint32_t)((random >> 20) % POOL) & ~(uint32_t)(request.size - 1);
  memcpy(&request.data, &random, 8);
  return request;
>>>"""
# A device on the bus below: what it writes is there with its reply, before which nobody reads the line anew; what it reads was there at some time since it was in order.
DEVICE_BELOW = """record on "port" event ordered <<< flat_window *window = &self->m.window[tag % 32]; *window = (flat_window){.address = address, .size = op == FLAT_READ ? size : 0}; self->m.expected[tag % 32] = value; flat_widen(&self->m, window); >>>
  record on "port" event performed <<<
    flat_window *window = &self->m.window[tag % 32];
    window->size = 0;
    if (op != FLAT_READ) flat_write(&self->m, 7, address, size, self->m.expected[tag % 32]);
    else if (self->m.reads++, !flat_was_there(window, value)) report_error("cycle %llu, 0x%x: the device reads 0x%llx, which was not there in that time", (unsigned long long)cycle, (unsigned)address, (unsigned long long)value);
  >>>"""
# What a cache of level 1 reads is in its level 2, and what it writes there is owned.
INCLUDED = """record on "level[%(k)d]" event transition <<< flat_level(&self->m, %(k)d, address / LINE, next, cycle); >>>
  record on "level[%(k)d]" event lost <<< for (int i = %(first)d; i < %(end)d; i++) self->m.void_from[i][address / LINE] = cycle + 1; >>>"""
USES_LEVEL = """ if (!flat_includes(&self->m, %(k)d, address / LINE, op == FLAT_READ || op == FLAT_LINK ? 1 : FLAT_EXCLUSIVE)) report_error("cycle %%llu, 0x%%x: cache %(i)d uses what its level 2 has not", (unsigned long long)cycle, (unsigned)address); >>>"""


def checker_of_levels(levels: int, caches: int) -> str:
    """The collector for `caches` of level 1 above each of level[0] to level[levels - 1], and the device `port` below."""
    text = checker(levels * caches).replace(DEVICE.replace("%%", "%"), DEVICE_BELOW)
    ends = "(unsigned long long)flat_read(&self->m, address, size)); >>>"
    for i in range(levels * caches):
        at = text.index(f"cache {i} %s")
        end = text.index(ends, at) + len(ends)
        text = text[: end - len(" >>>")] + USES_LEVEL % {"k": i // caches, "i": i} + text[end:]
    included = "\n  ".join(INCLUDED % {"k": k, "first": k * caches, "end": (k + 1) * caches} for k in range(levels))
    return text.replace("  report <<<", f"  {included}\n  report <<<").replace("/ LINE", f"/ {LINE}")


def two_levels(levels: int = 1, caches: int = 2, *, cache: str = "", above: str = "", level: str = "", bus: str = "", port: str = "", memory: str = "memory_delay { width = 256; depth = 8; latency = 6; }", array: int = 0, slow: str = "") -> str:
    """Requesters 0 to levels * caches - 1 behind caches of level 1, the last one behind a port on the bus below; `array`: cycles that the arrays of level 2 take longer; `slow`: frequency of the bus below and the memory, to which all others come through crossings."""
    on = " on slow_clk" if slow else ""
    return f"""{f"clock slow_clk = {slow};" if slow else ""}
instance cache[{levels * caches}] : mshr_controller {{ line = {LINE}; width = 64; {ORDERED} {cache} }};
instance above[{levels}] : system_bus {{ line = {LINE}; home = "level"; {above} }};
instance level[{levels}] : inclusive_cache {{ line = {LINE}; {level} }};
instance port : coherent_port {{ line = {LINE}; {port} }};
instance bus : {"crossed_bus" if slow else "system_bus"}{on} {{ line = {LINE}; {bus} }};
instance slow : {memory.replace(" {", on + " {", 1)};
instance memory : memory_state{on} {{ width = 256; size = 4 KiB; }};
for (k = 0; k < {levels}; k = k + 1) {{
  level[k].above -> above[k].agent["level"];
  level[k].below -> bus.agent["level" + string(k)];
  for (i = 0; i < {caches}; i = i + 1) {{
    requester[{caches} * k + i].memory -> cache[{caches} * k + i].in;
    cache[{caches} * k + i].bus -> above[k].agent["cpu" + string(i)];
  }}
}}
{f"instance array[{levels}] : memory_delay {{ width = 256; depth = 8; latency = {array}; }}; for (k = 0; k < {levels}; k = k + 1) {{ above[k].memory -> array[k].in; array[k].out -> level[k].in; }}" if array else f"for (k = 0; k < {levels}; k = k + 1) {{ above[k].memory -> level[k].in; }}"}
requester[{levels * caches}].memory -> port.in;
port.bus -> bus.agent["device"];
bus.memory -> slow.in;
slow.out -> memory.port;
"""


def checker(caches: int, wide: int = 0) -> str:
    """The collector for cache[0] to cache[caches - 1], as many non-blocking ones, wide[0] to wide[wide - 1], and the device `port`; 7 caches at most."""
    agents = [{"i": i, "path": f"cache[{i}]" if i < caches else f"wide[{i - caches}]"} for i in range(caches + wide)]
    more = [ACCESS % agent for agent in agents[1:]] + [TRANSITION % agent for agent in agents] + [DEVICE.replace("%%", "%")]
    return CHECKER % {"line": LINE, "more": "\n  ".join(more)}


def machine(
    cache: str = "",
    bus: str = "",
    port: str = "",
    caches: int = 4,
    wide: int = 0,
    *,
    misses: str = ORDERED,
    nonblocking: str = "sets = 2; ways = 2; mshrs = 4;",
    memory: str = "memory_delay { width = 256; depth = 8; latency = 6; }",
    out: str = "out",
    crossing: str = "",
    module: str = "mshr_controller",
    requester: str = "requester[{}]",
) -> str:
    """Requesters: one for each of cache[caches], one for the device, LANES for each of wide[wide]; with `crossing` on cpu_clk, all else on bus_clk."""
    cpu, slow = (" on cpu_clk", " on bus_clk") if crossing else ("", "")
    text = f"""
instance cache[{caches}] : {module}{cpu} {{ line = {LINE}; width = 64; {misses} {cache} }};
instance wide[{wide}] : mshr_controller{cpu} {{ line = {LINE}; {nonblocking} }};
instance port : coherent_port{cpu} {{ line = {LINE}; {port} }};
instance bus : system_bus{slow} {{ line = {LINE}; {bus} }};
instance slow : {memory.replace(" {", slow + " {", 1)};
instance memory : memory_state{slow} {{ width = 256; size = 4 KiB; }};
bus.memory -> slow.in;
slow.{out} -> memory.port;
"""
    places = [*(f"cache[{i}]" for i in range(caches)), "port", *(f"wide[{k}]" for k in range(wide) for _ in range(LANES))]
    text += "".join(f"{requester.format(i)}.memory -> {place}.in;\n" for i, place in enumerate(places))
    if crossing:
        text += f"instance cross[{caches + wide + 1}] : agent_crossing {{ line = {LINE}; {crossing} }};\n"
    for k, place in enumerate(dict.fromkeys(places)):
        text += f"{place}.bus -> cross[{k}].in;\ncross[{k}].out" if crossing else f"{place}.bus"
        text += f' -> bus.agent["{place.translate(str.maketrans("[", "_", "]"))}"];\n'
    return text


def generated(pool: int, caches: int = 2, wide: int = 3, device: bool = True, **options: str) -> str:
    """Requesters that make their requests by chance."""
    text = "import memory_types;\nimport cache_types;\n"
    for i in range(caches + 1 + LANES * wide):
        text += f"instance requester_{i} : memory_source;\nrequester_{i}.outstanding = {2 if i < caches else 4 if i == caches else 6};\n"
        text += f"requester_{i}.generate = {(DEVICE_GENERATE if i == caches else GENERATE).replace('POOL', str(pool))};\n"
    if not device:
        text += f"requester_{caches}.count = 0;\n"
    return text + machine(caches=caches, wide=wide, requester="requester_{}", **options) + checker(caches, wide)


def looked_at(ran: Ran) -> dict[str, int]:
    """What the collector counted."""
    return {one["name"]: one["value"] for one in ran.stats["statistics"] if one["path"] == ""}


def scripted(bench: Bench, caches: int = 2, more: str = "", **options: str) -> Memory:
    """Scripts for the caches and, last, for the device."""
    return Memory(bench, machine(caches=caches, **options) + more, caches + 1, 64)
