// The netlist: what elaboration and type inference leave behind, and all that scheduling, emission and the
// reporting commands read.  It is fully resolved: every parameter has a value, every port a concrete type and a
// width, every handler its expanded signals, and only leaf instances are connected to each other; the hierarchy
// survives as a tree of instances for names, clusters and pictures.  Everything is owned by the Netlist and lives until
// netlist_free(); pointers between parts are borrowed.
#ifndef LSS_NETLIST_H
#define LSS_NETLIST_H

#include "lss/base/compile_options.h"
#include "lss/base/location.h"
#include "lss/base/units.h"
#include "lss/front/function_kind.h"
#include "lss/front/state_kind.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

// ---- Types -------------------------------------------------------------------------------------------------
typedef enum {
  TYPE_BOOL,
  TYPE_INT,    // signed, `bits` is 8, 16, 32 or 64
  TYPE_UINT,   // unsigned, `bits` is 8, 16, 32 or 64 (bits(8) and uint8 are one type)
  TYPE_BITS,   // unsigned, any other width >= 1
  TYPE_PACKED, // an unsigned integer of `bits` bits, of which some have names
  TYPE_FLOAT,  // `bits` is 32 or 64
  TYPE_ENUM,
  TYPE_STRUCT,
  TYPE_ARRAY,  // `element`[`length`]
  TYPE_STRING, // runtime parameters only
  TYPE_STREAM  // state only
} TypeKind;

typedef struct Type Type;

// What a number may be, both included; the ends of int64_t where nothing is said.
typedef struct {
  int64_t least, most;
} Bounds;

typedef struct {
  const char *name;
  Type *type;
  const char *doc;      // may be NULL
  const Bounds *bounds; // of a struct's or packed word's member whose declaration has a range; else NULL
  int first, bits;      // of a member of a packed word: its lowest bit, its width
} Field;

typedef struct {
  const char *name;
  int64_t value;
} Enumerator;

// Types are interned: equal types are the same pointer.
struct Type {
  TypeKind kind;
  int bits;
  const char *name;       // as a user writes it: "uint32", "mem_request(128)", "uint8[4]"
  const char *c_name;     // a C identifier or builtin type: "uint32_t", "mem_request_128", "arr4_uint8"
  GPtrArray *fields;      // of Field*, for structs and packed words
  GPtrArray *enumerators; // of Enumerator*, for enums
  Type *element;          // of an array; the integer that a packed word is
  int length;
  int id; // index in Netlist.types; a type comes after all types that it contains
};

// ---- Values of parameters ----------------------------------------------------------------------------------
typedef enum {
  VALUE_INT,
  VALUE_BOOL,
  VALUE_FLOAT,
  VALUE_STRING,
  VALUE_QUANTITY, // rational `num`/`den` in the base unit of `dimension`
  VALUE_ENUM,     // `integer`, of `type`
  VALUE_LIST,     // of Value*
  VALUE_RECORD,   // of Field names and Value*; `type` is the struct when the parameter is typed by one
  VALUE_CLOCK,    // `clock`
  VALUE_TYPE,     // `type`
  VALUE_MODULE,   // `string` is its name
  VALUE_CODE      // `string` is C, interpolated; `location` is where it starts
} ValueKind;

typedef struct Value Value;
typedef struct Clock Clock;
struct Value { // there are many: what no kind has beside each other shares its place
  ValueKind kind;
  Dimension dimension;
  int64_t integer; // also bool
  int64_t num;     // frequency in Hz, time in seconds, size in bytes, rate in bit/s, fraction as 1
  union {
    int64_t den;      // of the same
    GPtrArray *names; // records: const char*, parallel to items
  };
  union {
    double real;
    const char *string;
    Clock *clock;
    const void *owner; // lists: the variable that alone holds it, so that it may change in place; NULL: none
  };
  GPtrArray *items; // lists and records: Value*; else NULL
  Type *type;
  Location location;
};

// ---- Clocks --------------------------------------------------------------------------------------------------
struct Clock {
  const char *name; // path, "cpu_clk"
  int64_t num, den; // frequency in Hz
  int id;           // index in Netlist.clocks
  Location location;
  uint64_t period; // ticks of a cycle, of the longest if it is rounded (lss/runtime/engine/clock.h)
  bool rounded;
};

// ---- Leaf modules --------------------------------------------------------------------------------------------
// What belongs to the declaration of a leaf module and is the same for all its instances.
typedef struct {
  const char *name;
  const char *lss_file;
  const char *c_file;      // absolute path of the behaviour
  const char *header_file; // x.h beside it, or NULL
  const char *doc;
  bool crossing;
  Location location;
  GPtrArray *handler_names; // const char*: every handler declared anywhere in its body
} LeafModule;

typedef struct Instance Instance;
typedef struct Port Port;
typedef struct Connection Connection;

// A named value of an instance.
typedef struct {
  const char *name;
  const char *doc;
  bool constant;         // `const`: never set
  bool runtime;          // settable when the simulator starts
  bool initial;          // marked `init`: what it is later changes nothing
  const char *of;        // the wrapped instance that it comes from, else NULL
  const char *alias_of;  // runtime parameter passed down from an outer one: path.name of the outermost, else NULL
  const char *type_name; // as declared: "int", "time", "register_spec[]"
  Type *record_type;     // of records, or of the records in a list; else NULL
  Value *value;
  Value *least, *most; // what it may be, both included; NULL without a bound
  Location location;
} Parameter;

typedef struct {
  const char *name;
  const char *doc;
  Type *result;
  GPtrArray *arguments; // Field*
  Value *code;          // VALUE_CODE; never NULL after checks
  bool replaced;        // the user of the module gave it
  const char *of;       // the wrapped instance that it is passed on from, else NULL
  Location location;
} Userpoint;

// The range of a state field, or of what its elements have.
typedef struct {
  const char *member; // "ring.head"; "" where the elements themselves are meant
  int64_t modulus;    // what is divided by it has to leave a remainder in the range; 0: nothing is divided
  Bounds bounds;
  Location location;
} StateRange;

// A field `flight T f[n]` is followed by two that belong to it: `f_arrives`, stamps, and `f_item`.  It has itself the
// places of a ring, of a type that lss declares.
typedef struct StateField StateField;
struct StateField {
  const char *name;
  const char *doc;
  const char *unit; // statistics: "frames"; else NULL
  StateKind kind;
  const StateField *flight; // that it belongs to; NULL: it stands for itself
  bool statistic;           // a counter that is reported
  bool gauge;               // a statistic that is no count: between two instants it has no difference
  Type *type;               // element type
  GArray *dimensions;       // of int, outermost first; empty for a scalar
  GArray *ranges;           // of StateRange; NULL without any
  Value *initial;           // NULL means zero
  Location location;
};

typedef struct {
  const char *name;
  Type *type;
  int lanes;       // 0: a single value
  bool specialize; // a bool; what runs after it is compiled for each of its values
  int id;          // index within the instance
  Location location;
} Local;

typedef struct {
  const char *name;
  const char *doc;
  GPtrArray *arguments; // Field*
  int id;               // index within the instance
  GArray *tallied;      // of EventTally: what debug builds count of it; NULL: nothing
  Location location;
} Event;

// What debug builds count of an event, for balances.
typedef struct {
  int argument; // that adds up; -1: the times that it is emitted
  int number;   // among what is counted of the instance
} EventTally;

// ---- Signals and functions -------------------------------------------------------------------------------------
typedef enum { SIGNAL_DATA, SIGNAL_ENABLE, SIGNAL_ACK, SIGNAL_LOCAL } SignalKind;

// One signal of one lane, as a function of an instance names it.
typedef struct {
  SignalKind kind;
  Port *port;   // NULL for locals
  Local *local; // NULL for ports
  int lane;     // index; 0 for single locals
} Signal;

typedef struct {
  FunctionKind kind;
  const char *name; // handler's name; "phase_start", …
  bool partial;
  bool indexed;                     // declared `name[i]`
  int lane;                         // of an indexed handler, else -1
  GArray *reads;                    // of Signal, expanded, without duplicates
  GArray *writes;                   // of Signal
  GArray *bare_reads, *bare_writes; // of Signal with lane -1: what the declaration names that expands to nothing new
  Port *domain_port;                // crossings: the port whose domain this function belongs to; else NULL
  const Parameter *parameter;       // what a reset is of; else NULL
  Clock *clock;                     // the domain it runs in
  Instance *instance;
  Location location;
} Function;

// ---- Instances ------------------------------------------------------------------------------------------------
struct Port {
  const char *name;   // "in", "memory.request"
  const char *c_name; // "in", "memory_request"
  const char *doc;
  const char *of; // the wrapped instance that it comes from, else NULL
  bool output;
  bool optional;
  bool accounted;     // its module says what becomes of its items
  bool paced;         // an inport sets the pace of its items, or an outport relies on that
  bool drives_enable; // an outport whose module writes its enable; otherwise enable follows ack
  Type *type;         // concrete; of an unconnected optional port that nothing fixes: bool
  GPtrArray *lanes;   // Connection* by lane; length is the width
  GPtrArray *keys;    // const char* by lane, "" where a lane has none; NULL when no lane has one
  Instance *instance;
  Clock *clock;
  int id; // index within the instance
  Location location;
  // Of a port of the type 'a: its name; else NULL.
  const char *variable;
};

// A lane of a hierarchical instance's port, through which a connection passes.
typedef struct {
  Instance *instance;
  const Port *port;
  const char *text; // "cpu[0].fetch", "nic.bus[dma_read].request", as the ends of connections are printed
  int lane;
} Passage;

// One lane between two leaf ports.
struct Connection {
  Port *from, *to; // outport, inport
  int from_lane, to_lane;
  Type *type;
  int id;       // index in Netlist.connections
  bool visible; // its signals are kept where observers find them, in every build
  Location location;
  GPtrArray *passages; // Passage*, from the sender on
};

struct Instance {
  const char *name; // last part, "cpu[0]"
  const char *path; // "cpu[0].fetch"; "" for the top
  const char *module_name;
  LeafModule *leaf;    // NULL for a hierarchical instance
  Instance *parent;    // NULL for the top
  GPtrArray *children; // Instance*, in order of creation
  Clock *clock;
  const char *doc;
  GPtrArray *parameters;       // Parameter*
  GPtrArray *userpoints;       // Userpoint*
  GPtrArray *ports;            // Port*; hierarchical instances keep theirs (without lanes) for pictures
  GPtrArray *state;            // StateField*
  GPtrArray *locals;           // Local*
  GPtrArray *events;           // Event*
  int tallies;                 // what debug builds count of them
  GPtrArray *functions;        // Function*, indexed handlers expanded
  GPtrArray *type_variables;   // Field*: name without the quote, resolved type
  const Value *cut;            // the least time from one end of a crossing to the other; NULL: it cannot be cut
  Location cut_place;          // where it is declared
  GPtrArray *elsewhere;        // Function*: of one half of a crossing, those of the other; NULL: it is whole
  GPtrArray *elsewhere_state;  // StateField*, likewise
  GPtrArray *elsewhere_hooks;  // const char*: "skip", "statistics" and the like, which the other half has
  GPtrArray *elsewhere_events; // const char*: that the other half emits
  int link;                    // of one half: the first of its links in Netlist.links
  int id;                      // index in Netlist.instances
  Location location;
};

// ---- Instrumentation -------------------------------------------------------------------------------------------
enum { CONNECTION_EVENTS = 4 };
extern const char *const connection_events[CONNECTION_EVENTS]; // in the order of their counts

typedef struct Collector Collector;
struct Collector {
  const char *name;
  const char *c_name;  // the same as a part of C identifiers
  const char *pattern; // of instance paths, or of ports for connection events
  const char *event;
  bool shared;
  bool on_connections;   // event is transferred, stalled, cancelled or idle
  bool recorded;         // the runtime writes it into a file; it has no code of its own
  const Collector *of;   // whose state it records in, for an event beside that one's; else NULL
  const Instance *owner; // in which it is declared
  Value *include;        // VALUE_CODE or NULL, as the others: what declare needs
  Value *declare, *init, *record, *report;
  GPtrArray *instances;   // matched Instance* (events of instances)
  GPtrArray *connections; // matched Connection*
  Location location;
};

// State that a debug view names: a field, or some of its elements, one behind the other.
typedef struct {
  Instance *instance; // leaf that holds the field
  StateField *field;
  guint64 first, count; // of its elements; all of them where it has no dimensions: 0, 1
} DebugState;

typedef struct {
  const char *role; // "pc", "registers"
  DebugState state;
  DebugState map; // integers, each of which says where in `state` its value is; no field: `state` is meant as it is
} DebugRole;

// What is said of a processor beside its state: `isa : "mips"`.
typedef struct {
  const char *name, *value; // as text
} DebugProperty;

// A word of a region that has a name.
typedef struct {
  const char *name;
  int64_t mask; // without gaps
} DebugBits;

typedef struct {
  const char *name;
  int64_t offset;
  GArray *bits; // DebugBits
} DebugName;

// A state field that processors find at some addresses; it repeats when they are more than it has bytes.
typedef struct {
  int64_t first, last;
  DebugState state;
  GArray *names; // DebugName
} DebugRegion;

typedef struct {
  const char *name;   // "cpu"
  Instance *instance; // where it was declared
  GPtrArray *roles;   // DebugRole*
  GArray *properties; // DebugProperty
  GPtrArray *regions; // DebugRegion*
  Location location;
} DebugView;

// A step of a derived statistic, in postfix order.
typedef struct {
  char kind; // 's' a statistic, 'c' cycles of the instance's clock, 'n' a number, or one of + - * /
  double number;
  Instance *instance;
  StateField *field;
  int index; // element of the field
} DerivedStep;

typedef struct {
  const char *name, *doc, *unit, *formula;
  Instance *instance; // where it was declared
  GArray *steps;      // DerivedStep
  Location location;
} Derived;

// Elements that a sum goes over.
typedef struct {
  guint64 stride, count; // bytes from one to the next
} BalanceRange;

enum { BALANCE_RANGES = 4 };

// A step of a sum, in postfix order.  There are as many as modules say sums, so they are kept small.
typedef struct {
  char kind;          // 'n' a number, 'c' cycles of the clock, 'f' a field, 'p' a port, 'e' an event, 'o' an operator
  bool ones;          // the bits that are 1 are counted
  guint8 shift, bits; // of a member of a packed word
  int operator;       // of 'o'; of 'f' and 'p': elements that compare so with `number` are counted; 0: they are added
  int64_t number;     // of 'n', 'f' and 'p'; of 'e' that of its tally
  Instance *instance; // of 'f', 'c' and 'e'
  union {
    StateField *field;  // of 'f'
    const Event *event; // of 'e'
    Port *port;         // of 'p'; of its lanes some are meant
  };
  guint first, count;         // of 'p': the first of them, and how many
  guint64 offset;             // of 'f' and 'p': bytes behind the first of the field or item
  const BalanceRange *ranges; // that it goes over
  Type *type;                 // of an element; of 'p': NULL where items are counted
  guint range_count;
} BalanceStep;

// Two sums that have to agree.
typedef struct {
  Instance *instance;
  const char *text; // as it is written; NULL of what is suspected
  const char *doc;
  GArray *left, *right; // BalanceStep
  int relation;         // OP_EQ, OP_LE, …
  bool conserves;       // an account of items: what came in is on the left
  bool contents;        // what leaves has to be what came in, bit by bit
  bool altered;
  bool suspected; // nothing is said: what is missing and does not fit into the state is noted
  bool debug;     // looked at in debug builds only, since items are counted there
  guint64 room;   // of a suspected one: items that it may hold
  int lane;       // that is meant; -1: all
  Location location;
} Balance;

// A connection as drawn: between two instances of one level, or an instance and the border of its parent.
typedef struct {
  Instance *level;                 // hierarchical instance in whose body it was written
  Instance *from, *to;             // children of `level`, or `level` itself for its own ports
  const char *from_port, *to_port; // declared names, bundles unsplit
  int from_lane, to_lane;
  const char *from_key, *to_key; // NULL where a lane has none
  Location location;
} DrawnConnection;

// ---- Networks in parts -----------------------------------------------------------------------------------------
// A run-time parameter of a part, by its name within the part, and its value.
typedef struct {
  const char *name;
  const Value *value;
} PartSetting;

// A part of a network.  Of those that are alike only one is elaborated; the others have ports and nothing in them.
typedef struct {
  Instance *instance, *like; // `like` is the one that was elaborated; it may be the same
  GPtrArray *settings;       // PartSetting*: that differ from those of `like`
} Part;

// An end of a flight that leads from one part of a network to another (lss/runtime/engine/link_end.h).
typedef struct {
  const char *path; // of the flight
  Instance *half;   // of its crossing
  const StateField *flight, *item;
  bool sends;
} LinkEnd;

typedef struct {
  const char *file; // the machine
  Instance *top;
  GPtrArray *types;  // Type*, contained before containing
  GPtrArray *clocks; // Clock*
  guint64 ticks_per_second;
  GPtrArray *instances;   // Instance*: all, parents before children
  GPtrArray *leaves;      // Instance*: leaves only, in the same order
  GPtrArray *connections; // Connection*
  GPtrArray *collectors;  // Collector*
  GPtrArray *debug_views; // DebugView*
  GPtrArray *watches;     // const char*: events that are counted for conditions, "PATH.EVENT" or "marker(N)"
  GPtrArray *records;     // const char*: what is recorded, as --record names it
  GPtrArray *waves;       // const char*: patterns of the ports whose connections stay visible
  GPtrArray *derived;     // Derived*
  GPtrArray *balances;    // Balance*
  GPtrArray *drawn;       // DrawnConnection*
  GPtrArray *sources;     // const char*: every .lss file read, for manifests and rebuilds
  GPtrArray *parts;       // Part*: of a network
  GPtrArray *links;       // LinkEnd*: of one part
  const char *part;       // the path of the one part that this is; NULL: a whole machine
  guint64 distance;       // ticks that two parts of it are apart at most (lss/runtime/engine/machine.h); 0: it has none
  const char *network;    // the hash of its network.json; NULL: a whole machine
} Netlist;

Netlist *netlist_new(const char *machine_file);
// Every file that the machine was read from, each leaf's again (const char*, borrowed).  The caller frees the array.
GPtrArray *netlist_files(const Netlist *netlist);
guint64 instance_cut(const Instance *instance, guint64 ticks_per_second);    // the same in ticks, rounded down
StateField *instance_find_state(const Instance *instance, const char *name); // NULL when there is none
Event *find_event(const Instance *instance, const char *name);               // NULL when there is none
bool is_connection_event(const char *event);                                 // transferred, stalled, cancelled or idle
void netlist_free(Netlist *netlist);
const char *port_key(const Port *port, int lane);   // NULL when the lane has none
bool port_key_repeated(const Port *port, int lane); // another lane has the same key
// A lane as it is printed: "value[mac_tx_producer]", "value[rx_buffer_base.2]" when several have the key, "value[3]"
// when it has none, "value" when it is the only one.  The caller frees it.
char *port_lane_text(const Port *port, int lane);
// The same of a hierarchical instance's port, which keeps no lanes, of this width.
char *port_lane_text_of(const Port *port, int lane, guint width);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Netlist, netlist_free)

// Reads a machine, elaborates it, infers types and runs all checks.  Reports through lss/base/diagnostics.h, and
// returns NULL after errors.
Netlist *compile_netlist(const char *machine_file, const CompileOptions *options);

// Bytes of the C type and, if wanted, its alignment: the layout rules of the System V ABI, as clang applies them to
// what lss emits.
gsize type_size(const Type *type, gsize *alignment);
// Whether a value is a whole number of at most 64 bits.
bool type_is_whole_number(const Type *type);

#endif
