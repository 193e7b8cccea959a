// Processors out of debug views; see cores.h.
#include "lss/runtime/cores/cores.h"

#include "lss/runtime/engine/names.h"
#include "lss/runtime/observe/roles.h"
#include "lss/runtime/text/type.h"

static const spinach_machine *const machine = &spinach_machine_table;

// The first of the elements that are meant; the others follow.
static uint8_t *bytes_of(const spinach_place *place) {
  const spinach_field *field = place->field;
  return (uint8_t *)spinach_instance_state(place->instance) + field->offset + place->first * field->type->size;
}

static uint64_t size_of(const spinach_place *place) {
  return place->count * place->field->type->size;
}

static CoreValue value_of(const spinach_debug_view *view, const char *name) {
  const spinach_debug_role *role = view_role(view, name);
  if (!role || !spinach_is_integer(role->state.field->type)) return (CoreValue){0};
  return (CoreValue){role->state.field->type, bytes_of(&role->state)};
}

// Where an integer is that is a member of a struct, or else of a struct in that.
static CoreValue member_of(const struct spinach_type *type, const uint8_t *value, const char *name) {
  CoreValue found = {0};
  if (type->kind != SPINACH_STRUCT) return found;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!strcmp(type->members[i].name, name) && spinach_is_integer(type->members[i].type))
      return (CoreValue){type->members[i].type, (uint8_t *)value + type->members[i].offset};
  for (uint32_t i = 0; i < type->member_count && !found.at; i++)
    found = member_of(type->members[i].type, value + type->members[i].offset, name);
  return found;
}

// The same of a packed word that is a member.
static uint64_t packed_in(const struct spinach_type *type, const uint8_t *value, const char *name) {
  uint64_t number = 0;
  for (uint32_t i = 0; i < type->member_count && !number; i++) {
    const struct spinach_member *member = &type->members[i];
    if (type->kind == SPINACH_STRUCT)
      number = packed_in(member->type, value + member->offset, name);
    else if (type->kind == SPINACH_PACKED && !strcmp(member->name, name))
      number = spinach_packed_member(type, value, member);
  }
  return number;
}

int64_t core_number_in(const struct spinach_type *type, const uint8_t *value, const char *name) {
  const CoreValue found = member_of(type, value, name);
  return core_get(&found);
}

static const uint8_t *operation_at(const Core *core, int64_t behind) {
  const int64_t first = core_get(&core->retiring_first) / core->retiring_step;
  const uint64_t place = (uint64_t)(first + behind) % core->retiring_places;
  return core->retiring_ring + place * core->retiring->size;
}

// Of the operation that retires so many behind the next; less than 0: of one that did.
static uint32_t retiring(const Core *core, int64_t behind, const char *what) {
  return (uint32_t)core_number_in(core->retiring, operation_at(core, behind), what);
}

// Whether the next operation is of the same instruction.
static bool has_more(const Core *core, int64_t behind) {
  return packed_in(core->retiring, operation_at(core, behind), "more");
}

// The last operation of the instruction before the one that ends with this operation.
static int64_t end_before(const Core *core, int64_t operation) {
  const int64_t least = operation - core->retiring_places;
  do operation--;
  while (operation > least && has_more(core, operation));
  return operation;
}

// An operation of the instruction that retires so many behind the next.
static int64_t operation_of(const Core *core, uint32_t behind) {
  int64_t operation = 0;
  for (; behind > 0; behind--) {
    while (operation < core->retiring_places && has_more(core, operation)) operation++;
    operation++;
  }
  return operation;
}

uint32_t core_retired_pc(const Core *core, uint64_t before) {
  if (!core->retiring) return (uint32_t)core_get(&core->pc);
  int64_t operation = end_before(core, 0);
  for (; before > 0; before--) operation = end_before(core, operation);
  return retiring(core, operation, "pc");
}

uint32_t core_retiring_pc(const Core *core, uint32_t behind) {
  return retiring(core, operation_of(core, behind), "pc");
}

int64_t core_get(const CoreValue *value) {
  return value->at ? spinach_integer(value->type, value->at) : 0;
}

void core_set(const CoreValue *value, int64_t number) {
  if (value->at)
    memcpy(value->at, &number, value->type->size); // hosts are little-endian (modules/memory/memory_access.h)
}

static uint8_t *register_at(const Core *core, uint32_t number, uint32_t behind, uint32_t *size) {
  // A memory that serves as register file holds bytes, as the host would lay out the numbers.
  const uint64_t element = core->registers->state.field->type->size;
  const bool bytes = element == 1 && !core->registers->map.field;
  *size = bytes ? 4 : (uint32_t)element;
  const spinach_debug_role direct = {.state = core->registers->state};
  for (int64_t k = behind > 0 ? operation_of(core, behind) : 0; number && k-- > 0;)
    if (retiring(core, k, "logical") == number) return spinach_role_element(&direct, retiring(core, k, "dest"));
  return spinach_role_element(core->registers, bytes ? 4 * number : number);
}

uint32_t core_register(const Core *core, uint32_t number, uint32_t behind) {
  uint32_t size, value = 0;
  const uint8_t *at = register_at(core, number, core->retiring ? behind : 0, &size);
  memcpy(&value, at, MIN(size, sizeof value));
  return value;
}

void core_set_register(const Core *core, uint32_t number, uint32_t value) {
  uint32_t size;
  uint8_t *at = register_at(core, number, 0, &size);
  memcpy(at, &value, MIN(size, sizeof value));
}

// ---- The start of the pipeline --------------------------------------------------------------------------------------
static const CoreFetch *fetch_of(const Core *core, guint number) {
  return number < core->fetches->len ? &g_array_index(core->fetches, CoreFetch, number) : NULL;
}

bool core_has_fetch_pc(const Core *core) {
  return fetch_of(core, 0) && fetch_of(core, 0)->pc.at;
}

uint32_t core_fetch_pc(const Core *core) {
  return core_has_fetch_pc(core) ? (uint32_t)core_get(&fetch_of(core, 0)->pc) : 0;
}

void core_set_fetch_pc(const Core *core, uint32_t pc) {
  const uint32_t change = pc - core_fetch_pc(core);
  const CoreFetch *fetch;
  for (guint i = 0; (fetch = fetch_of(core, i)); i++) {
    core_set(&fetch->pc, (uint32_t)core_get(&fetch->pc) + change);
    core_set(&fetch->pc_set, true);
    core_set(&fetch->branch_pending, false);
  }
}

bool core_can_halt(const Core *core) {
  const CoreFetch *fetch;
  for (guint i = 0; (fetch = fetch_of(core, i)); i++)
    if (!fetch->pc.at || !fetch->halt.at || !fetch->in_flight.at || !fetch->fetching.at) return false;
  return core->fetches->len > 0;
}

bool core_is_halted(const Core *core) {
  return fetch_of(core, 0) && core_get(&fetch_of(core, 0)->halt);
}

void core_halt(const Core *core, bool halt) {
  const CoreFetch *fetch;
  for (guint i = 0; (fetch = fetch_of(core, i)); i++) core_set(&fetch->halt, halt);
}

bool core_halt_behind(const Core *core, uint32_t instructions) {
  const CoreFetch *fetch;
  for (guint i = 0; (fetch = fetch_of(core, i)); i++) {
    if (!fetch->halt_behind.at) return false;
    core_set(&fetch->halt_behind, instructions);
  }
  return true;
}

bool core_is_empty(const Core *core) {
  const CoreFetch *fetch;
  for (guint i = 0; (fetch = fetch_of(core, i)); i++)
    if (core_get(&fetch->in_flight) != core_get(&fetch->in_flight_from) || core_get(&fetch->fetching) ||
        core_get(&fetch->halt_behind))
      return false;
  for (guint i = 0; i < core->holding->len; i++)
    if (core_get(&g_array_index(core->holding, CoreValue, i))) return false;
  return true;
}

// ---- What belongs to which processor -------------------------------------------------------------------------------
static uint32_t depth(int32_t instance) {
  uint32_t levels = 0;
  for (; instance >= 0; instance = machine->instances[instance].parent) levels++;
  return levels;
}

static bool is_core(const spinach_debug_view *view) {
  return view_role(view, "pc") && view_role(view, "registers") && view_role(view, "retired") &&
         known_isa(view_property(view, "isa"));
}

static void add_regions(Core *core, int32_t instance) {
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < machine->instance_count; i++) deepest = MAX(deepest, depth((int32_t)i));
  for (uint32_t level = deepest; level > 0; level--)
    for (uint32_t i = 0; i < machine->view_count; i++) {
      const spinach_debug_view *view = view_about(core->context, i);
      if (!view || depth(view->instance) != level || !view_encloses(view->instance, instance)) continue;
      for (uint32_t k = 0; k < view->region_count; k++) {
        const spinach_debug_region *declared = &view->regions[k];
        const CoreRegion region = {declared, bytes_of(&declared->state), size_of(&declared->state),
                                   (uint32_t)declared->state.field->type->size};
        g_array_append_val(core->regions, region);
      }
    }
}

// The innermost module with that in it and a processor.
static int32_t surrounding(int32_t instance) {
  for (; instance >= 0; instance = machine->instances[instance].parent)
    for (uint32_t i = 0; i < machine->view_count; i++)
      if (is_core(&machine->views[i]) && view_encloses(instance, machine->views[i].instance)) return instance;
  return -1;
}

static void add_fetches(Core *core, int32_t instance) {
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = view_about(core->context, i);
    if (!view || !view_role(view, "fetch_pc") || !view_encloses(instance, view->instance)) continue;
    const CoreFetch fetch = {value_of(view, "fetch_pc"),       value_of(view, "pc_set"),
                             value_of(view, "branch_pending"), value_of(view, "halt"),
                             value_of(view, "in_flight"),      value_of(view, "fetching"),
                             value_of(view, "halt_behind"),    value_of(view, "in_flight_from")};
    g_array_append_val(core->fetches, fetch);
  }
}

// What else may be in flight, in the processor or the caches around it: numbers, or rings with their `count`.
static void add_holding(Core *core, int32_t instance) {
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = view_about(core->context, i);
    const spinach_debug_role *role = view ? view_role(view, "in_flight") : NULL;
    if (!role || view_role(view, "fetch_pc")) continue;
    const int32_t around = surrounding(view->instance);
    if (around < 0 || !view_encloses(around, instance)) continue;
    const CoreValue value = spinach_is_integer(role->state.field->type)
                                ? value_of(view, "in_flight")
                                : member_of(role->state.field->type, bytes_of(&role->state), "count");
    if (value.at) g_array_append_val(core->holding, value);
  }
}

// A cache may keep its lines in a memory of its own, of which the module around both says where it is.
static const spinach_debug_role *bytes_of_lines(const spinach_debug_view *view) {
  const spinach_debug_role *found = NULL;
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *other = &machine->views[i];
    const spinach_debug_role *role = view_role(other, "line_bytes");
    if (!role || !view_encloses(other->instance, view->instance) || depth(other->instance) <= deepest) continue;
    deepest = depth(other->instance);
    found = role;
  }
  return found;
}

// Requests, or their addresses: `role` names the former, which are `places` in all `rings`.
static void add_ring(Core *core, const spinach_debug_role *role, CoreWrites writes) {
  if (!role || !writes.count.at || (writes.address.at && (!writes.size.at || !writes.data.at))) return;
  writes.places = (uint32_t)role->state.count / writes.rings;
  if (!writes.address.at) {
    writes.request = role->state.field->type;
    writes.requests = bytes_of(&role->state);
  }
  g_array_append_val(core->writes, writes);
}

static void add_writes(Core *core, const spinach_debug_view *view) {
  const spinach_debug_role *count = view_role(view, "write_count"), *addresses = view_role(view, "write_address");
  if (count)
    add_ring(core, addresses ? addresses : view_role(view, "write"),
             (CoreWrites){.address = value_of(view, "write_address"),
                          .size = value_of(view, "write_size"),
                          .data = value_of(view, "write_data"),
                          .first = value_of(view, "write_first"),
                          .count = value_of(view, "write_count"),
                          .rings = (uint32_t)count->state.count});
  add_ring(core, view_role(view, "pending"), (CoreWrites){.count = value_of(view, "waiting"), .rings = 1});
}

// A processor's own buffers are newer than those outside.
static void add_all_writes(Core *core, int32_t instance) {
  for (int inside = 0; inside < 2; inside++)
    for (uint32_t i = 0; i < machine->view_count; i++) {
      const spinach_debug_view *view = view_about(core->context, i);
      const bool any = view && (view_role(view, "write_count") || view_role(view, "pending"));
      const int32_t around = any ? surrounding(view->instance) : -1;
      if (around >= 0 && view_encloses(around, instance) && view_encloses(instance, view->instance) == inside)
        add_writes(core, view);
    }
}

static void add_fill(CoreCache *cache, const spinach_debug_view *view) {
  const spinach_debug_role *valid = view_role(view, "line_valid"), *victim = view_role(view, "victim_bytes");
  cache->filling = value_of(view, "filling");
  cache->fill_number = value_of(view, "fill_number");
  cache->fill_set = value_of(view, "fill_set");
  cache->fill_way = value_of(view, "fill_way");
  const spinach_field *lines = valid->state.field;
  cache->ways = lines->dimension_count ? lines->dimensions[lines->dimension_count - 1] : 1;
  cache->victim_number = value_of(view, "victim_number");
  cache->victim_read = value_of(view, "victim_read");
  if (!victim || !cache->victim_number.at || !cache->victim_read.at) return;
  cache->victim_dirty = value_of(view, "victim_dirty");
  cache->victim = bytes_of(&victim->state);
  cache->victim_stride = (uint32_t)victim->state.field->type->size;
  cache->beat = cache->line / (uint32_t)victim->state.count;
}

static void add_caches(Core *core, int32_t instance) {
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = view_about(core->context, i);
    if (!view) continue;
    const spinach_debug_role *valid = view_role(view, "line_valid"), *changed = view_role(view, "line_changed");
    const spinach_debug_role *bytes = valid && view_role(view, "line_number") ? bytes_of_lines(view) : NULL;
    const int32_t around = bytes ? surrounding(view->instance) : -1;
    if (around < 0 || !view_encloses(around, instance)) continue;
    CoreCache cache = {.number = value_of(view, "line_number"),
                       .valid = value_of(view, "line_valid"),
                       .dirty = value_of(view, "line_dirty"),
                       .bytes = bytes_of(&bytes->state),
                       .lines = (uint32_t)valid->state.count};
    if (!cache.lines || !cache.number.at || !cache.valid.at) continue;
    const uint64_t size = size_of(&bytes->state);
    cache.line = (uint32_t)size / cache.lines;
    if (changed && size_of(&changed->state) * 8 >= size) cache.changed = bytes_of(&changed->state);
    add_fill(&cache, view);
    g_array_append_val(core->caches, cache);
  }
}

const CoreNamed *core_named(const Core *core, const char *name) {
  for (guint i = 0; i < core->named->len; i++)
    if (!strcmp(g_array_index(core->named, CoreNamed, i).name, name)) return &g_array_index(core->named, CoreNamed, i);
  return NULL;
}

static void add_name(Core *core, const spinach_debug_view *view, const char *name) {
  g_autofree char *property = g_strconcat(name, "_register", NULL);
  const CoreNamed named = {name, value_of(view, name), (uint32_t)view_number(view, property)};
  if (!core_named(core, name)) g_array_append_val(core->named, named);
}

static void add_names(Core *core, const spinach_debug_view *view) {
  for (const char *const *state = core->isa->states; state && *state; state++) add_name(core, view, *state);
  for (const IsaRegister *r = core->isa->registers; r->name; r++)
    if (r->kind == ISA_NAMED) add_name(core, view, r->name);
}

// What a view says of the TLB, or of system control: these are beside the pipeline, as caches are.
static void add_system_of(Core *core, int32_t instance, bool own) {
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = view_about(core->context, i);
    if (!view || (view_context(view) != NO_CONTEXT) != own) continue;
    const spinach_debug_role *tlb = view_role(view, "tlb");
    const int32_t around = tlb || view_role(view, core->isa->states[0]) ? surrounding(view->instance) : -1;
    if (around < 0 || !view_encloses(around, instance)) continue;
    if (tlb) {
      core->tlb_entry = tlb->state.field->type;
      core->tlb = bytes_of(&tlb->state);
      core->tlb_entries = (uint32_t)tlb->state.count;
      continue;
    }
    for (guint k = 0; k < core->named->len; k++) {
      CoreNamed *named = &g_array_index(core->named, CoreNamed, k);
      if (view_role(view, named->name)) named->value = value_of(view, named->name);
    }
  }
}

// Of several programs each may have its own, which hide those that are said of no program.
static void add_system(Core *core, int32_t instance) {
  if (!core->isa->states) return;
  add_system_of(core, instance, false);
  if (core->context != NO_CONTEXT) add_system_of(core, instance, true);
}

// Where those lie that retire, where several do at a time.
static void add_retiring(Core *core, const spinach_debug_view *view) {
  const spinach_debug_role *ring = view_role(view, "retiring");
  core->retiring_first = value_of(view, "retiring_first");
  if (!ring || !core->retiring_first.at) return;
  core->retiring = ring->state.field->type;
  core->retiring_ring = bytes_of(&ring->state);
  core->retiring_places = (uint32_t)ring->state.count;
  core->retiring_step = MAX(1, view_number(view, "retiring_step"));
}

// Where the memory of the program is, if a module around says that it is elsewhere than its addresses say.
static void add_window(Core *core, int32_t instance) {
  for (uint32_t i = 0; i < machine->view_count; i++) {
    const spinach_debug_view *view = view_about(core->context, i);
    if (!view || !view_number(view, "memory_size") || !view_encloses(view->instance, instance)) continue;
    core->memory_base = (uint32_t)view_number(view, "memory_base");
    core->memory_size = view_number(view, "memory_size");
  }
}

static Core *core_new(const spinach_debug_view *view, uint32_t number) {
  const spinach_debug_role *registers = view_role(view, "registers");
  Core *core = g_new0(Core, 1);
  *core = (Core){.number = number,
                 .path = machine->instances[view->instance].path,
                 .context = view_context(view),
                 .name = view_name(view),
                 .isa = known_isa(view_property(view, "isa")),
                 .big_endian = !strcmp(view_property(view, "big_endian"), "true"),
                 .pc = value_of(view, "pc"),
                 .retired = value_of(view, "retired"),
                 .named = g_array_new(FALSE, FALSE, sizeof(CoreNamed)),
                 .fetches = g_array_new(FALSE, FALSE, sizeof(CoreFetch)),
                 .holding = g_array_new(FALSE, FALSE, sizeof(CoreValue)),
                 .registers = registers,
                 .memory_behind = (uint32_t)view_number(view, "memory_behind"),
                 .regions = g_array_new(FALSE, FALSE, sizeof(CoreRegion)),
                 .caches = g_array_new(FALSE, FALSE, sizeof(CoreCache)),
                 .writes = g_array_new(FALSE, FALSE, sizeof(CoreWrites))};
  const bool bytes = registers->state.field->type->size == 1 && !registers->map.field;
  core->register_count = (uint32_t)spinach_role_elements(registers) / (bytes ? 4 : 1);
  add_names(core, view);
  add_retiring(core, view);
  add_fetches(core, view->instance);
  add_holding(core, view->instance);
  add_regions(core, view->instance);
  add_caches(core, view->instance);
  add_all_writes(core, view->instance);
  add_system(core, view->instance);
  add_window(core, view->instance);
  return core;
}

const GPtrArray *spinach_cores(void) {
  static GPtrArray *cores;
  if (cores) return cores;
  cores = g_ptr_array_new();
  for (uint32_t i = 0; i < machine->view_count; i++)
    if (is_core(&machine->views[i])) g_ptr_array_add(cores, core_new(&machine->views[i], cores->len + 1));
  return cores;
}

guint core_count(void) {
  return spinach_cores()->len;
}

const Core *core_of(guint number) {
  return spinach_cores()->pdata[number - 1];
}

uint64_t core_retired(guint number) {
  return (uint64_t)core_get(&core_of(number)->retired);
}

guint core_around(const char *path) {
  for (guint i = 1; i <= core_count(); i++) {
    const gsize length = strlen(core_of(i)->path);
    if (!strncmp(path, core_of(i)->path, length) && (path[length] == '.' || !path[length])) return i;
  }
  return 0;
}
