// Reads compiled device trees; see device_tree.h.  One pass over the structure block visits each property with the path
// of its node; a second pass finds the fixed clock that the first processor refers to.
#include "device_tree.h"

#include <string.h>

enum { BEGIN_NODE = 1, END_NODE, PROPERTY, NOP, END = 9 };
enum { HEADER = 40, DEPTH = 64 };

typedef struct {
  const uint8_t *bytes;
  size_t at, end; // of the structure block
  const char *strings;
  size_t strings_size;
  const char *node[DEPTH]; // names from the root on, whose own is empty
  int depth;
} Walk;

typedef struct {
  const char *name;
  const uint8_t *value;
  size_t size;
} Property;

static uint32_t word(const uint8_t *place) {
  return (uint32_t)place[0] << 24 | (uint32_t)place[1] << 16 | (uint32_t)place[2] << 8 | place[3];
}

// A number of one or two cells; false when the property is of another size.
static bool number(const Property *property, uint64_t *value) {
  if (property->size == 4) return *value = word(property->value), true;
  if (property->size != 8) return false;
  return *value = (uint64_t)word(property->value) << 32 | word(property->value + 4), true;
}

static const char *begin(Walk *walk, const uint8_t *bytes, size_t size) {
  if (size < HEADER || word(bytes) != DEVICE_TREE_MAGIC) return "it does not begin with 0xd00dfeed";
  const uint64_t total = word(bytes + 4), structure = word(bytes + 8), strings = word(bytes + 12);
  const uint64_t strings_size = word(bytes + 32), structure_size = word(bytes + 36);
  if (total > size) return "it is truncated";
  if (structure % 4 || structure + structure_size > total) return "its structure block is not within the file";
  if (strings + strings_size > total) return "its strings block is not within the file";
  *walk = (Walk){.bytes = bytes, .at = structure, .end = structure + structure_size};
  walk->strings = (const char *)bytes + strings;
  walk->strings_size = strings_size;
  return NULL;
}

static const char *enter(Walk *walk) {
  const char *name = (const char *)walk->bytes + walk->at;
  const size_t length = strnlen(name, walk->end - walk->at);
  if (length == walk->end - walk->at) return "the name of a node does not end";
  if (walk->depth == DEPTH) return "its nodes are nested more than 64 deep";
  walk->node[walk->depth++] = name;
  walk->at += (length + 4) / 4 * 4;
  return NULL;
}

static const char *take(Walk *walk, Property *property) {
  if (walk->end - walk->at < 8) return "a property is truncated";
  const size_t size = word(walk->bytes + walk->at), name = word(walk->bytes + walk->at + 4);
  walk->at += 8;
  if (size > walk->end - walk->at) return "a property is truncated";
  if (name >= walk->strings_size || !memchr(walk->strings + name, 0, walk->strings_size - name))
    return "the name of a property is not within the strings block";
  *property = (Property){walk->strings + name, walk->bytes + walk->at, size};
  walk->at += (size + 3) / 4 * 4;
  return NULL;
}

// The next property, whose node is that of `walk`; name NULL: there are no more.  Returns why it cannot be read.
static const char *next(Walk *walk, Property *property) {
  *property = (Property){0};
  while (walk->at + 4 <= walk->end) {
    const char *why = NULL;
    walk->at += 4;
    switch (word(walk->bytes + walk->at - 4)) {
    case BEGIN_NODE: why = enter(walk); break;
    case END_NODE:
      if (!walk->depth--) return "a node ends that did not begin";
      break;
    case PROPERTY: return walk->depth ? take(walk, property) : "a property is in no node";
    case NOP: break;
    case END: return walk->depth ? "a node does not end" : NULL;
    default: return "its structure block holds an unknown word";
    }
    if (why) return why;
  }
  return "its structure block does not end";
}

// Whether a node, at a depth from 0 for the root on, has this name; its address, after the @, does not count.
static bool is_node(const Walk *walk, int depth, const char *name) {
  const size_t length = strlen(name);
  if (walk->depth <= depth || strncmp(walk->node[depth], name, length) != 0) return false;
  return !walk->node[depth][length] || walk->node[depth][length] == '@';
}

static bool is(const Property *property, const char *name) {
  return !strcmp(property->name, name);
}

typedef struct {
  uint64_t address_cells, size_cells; // of the root
  const char *processor;              // the first node below /cpus
  bool has_phandle;
  uint32_t phandle; // of its clock
} Found;

// Regions of memory, each an address and a size.
static void take_memory(const Found *found, const Property *property, DeviceTree *tree) {
  const size_t address = 4 * found->address_cells, step = address + 4 * found->size_cells;
  if (address > 8 || step - address > 8 || !address || step == address || property->size % step) return;
  for (size_t at = 0; at + step <= property->size; at += step) {
    uint64_t first = 0, size = 0;
    number(&(Property){.value = property->value + at, .size = address}, &first);
    number(&(Property){.value = property->value + at + address, .size = step - address}, &size);
    const uint64_t end = first + size < first ? UINT64_MAX : first + size;
    if (!tree->has_memory || end > tree->memory_end) tree->memory_end = end;
    tree->has_memory = true;
  }
}

static void take_processor(Found *found, const char *node, const Property *property, DeviceTree *tree) {
  if (!found->processor) found->processor = node;
  if (found->processor != node) return;
  if (is(property, "clock-frequency") && number(property, &tree->clock_hz)) tree->has_clock = true;
  if (!is(property, "clocks") || property->size < 4) return;
  found->phandle = word(property->value);
  found->has_phandle = true;
}

static void look(const Walk *walk, const Property *property, Found *found, DeviceTree *tree) {
  if (walk->depth == 1 && is(property, "#address-cells")) number(property, &found->address_cells);
  if (walk->depth == 1 && is(property, "#size-cells")) number(property, &found->size_cells);
  if (walk->depth == 2 && is_node(walk, 1, "memory") && is(property, "reg")) take_memory(found, property, tree);
  if (walk->depth == 3 && is_node(walk, 1, "cpus") && is_node(walk, 2, "cpu"))
    take_processor(found, walk->node[2], property, tree);
  if (walk->depth != 2 || !is_node(walk, 1, "chosen")) return;
  if (is(property, "linux,initrd-start") && number(property, &tree->initramfs_start)) tree->has_initramfs = true;
  if (is(property, "linux,initrd-end")) number(property, &tree->initramfs_end);
}

// The frequency of the node with a phandle: both are properties of it, in either order.
static void find_clock(const uint8_t *bytes, size_t size, uint32_t phandle, DeviceTree *tree) {
  Walk walk;
  Property property;
  const char *node = NULL;
  bool wanted = false, has = false;
  uint64_t hz = 0, value;
  for (begin(&walk, bytes, size); !next(&walk, &property) && property.name;) {
    if (walk.node[walk.depth - 1] != node) {
      node = walk.node[walk.depth - 1];
      wanted = has = false;
    }
    if (is(&property, "phandle") && number(&property, &value)) wanted = value == phandle;
    if (is(&property, "clock-frequency") && number(&property, &hz)) has = true;
    if (!wanted || !has) continue;
    tree->clock_hz = hz;
    tree->has_clock = true;
    return;
  }
}

const char *device_tree_read(const uint8_t *bytes, size_t size, DeviceTree *tree) {
  *tree = (DeviceTree){0};
  Walk walk;
  Property property;
  Found found = {.address_cells = 2, .size_cells = 1}; // where the root does not say
  const char *why = begin(&walk, bytes, size);
  while (!why && !(why = next(&walk, &property)) && property.name) look(&walk, &property, &found, tree);
  if (why) return why;
  if (!tree->has_clock && found.has_phandle) find_clock(bytes, size, found.phandle, tree);
  return NULL;
}
