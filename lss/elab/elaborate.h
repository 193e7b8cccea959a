// What the files of elaboration share: the state of a compilation, scopes and symbols, instances while they are being
// built, type terms before inference, connections before they are joined across the hierarchy.  The order of work is
// compile.c: load, elaborate (instance.c), join (join.c), infer (infer.c), expand behaviour (lss/attach/behaviour.c),
// check (lss/attach/checks.c).
#ifndef LSS_ELABORATE_H
#define LSS_ELABORATE_H

#include "lss/elab/netlist.h"
#include "lss/front/tree.h"

typedef struct Inst Inst;
typedef struct Scope Scope;
typedef struct Symbol Symbol;
typedef struct Term Term;
typedef struct PortDecl PortDecl;
typedef struct PortMember PortMember;
typedef struct Promise Promise;

// ---- The compilation (context.c) ---------------------------------------------------------------------------
typedef struct {
  const CompileOptions *options;
  Netlist *netlist;
  Scope *globals;           // declarations of all files
  GHashTable *files;        // canonical path -> SourceFile*
  GPtrArray *loading;       // SourceFile*: files whose imports are being read, outermost first
  GHashTable *types;        // name -> Type*
  GPtrArray *type_terms;    // Term* of each type, by its number; holes are NULL
  GHashTable *c_names;      // C name -> Type*
  GHashTable *scalars;      // name of a type -> scalars in it
  GHashTable *leaf_modules; // name -> LeafModule*
  GHashTable *machines;     // path -> GPtrArray of Said*: what files say of machines that they extend (machine.c)
  GPtrArray *insts;         // Inst*, parents before children
  GPtrArray *defines;       // PathDefine*: -D PATH.NAME=VALUE
  GPtrArray *links;         // Link*
  GPtrArray *pairs;         // Pair*: joined ends, whose types are one
  GPtrArray *pending;       // Pending*: types that inference will know
  GPtrArray *collectors, *debugs, *derived, *balances;   // Attached*
  GHashTable *collector_names;                           // -> Collector*
  Inst *running;                                         // whose body is being run, or NULL
  GPtrArray *waiting;                                    // Inst*: parts of a network whose bodies are run last
  Inst *in_part;                                         // whose body, or that of an instance in it, is being run
  SourceFile *reading;                                   // beside which modules are looked up; NULL: that of `running`
  GHashTable *state_names, *event_names, *handler_names; // of that body so far -> Node*
  GArray *nothing;                                       // of functions without signals and fields without dimensions
  Scope *ended;                                          // scopes to be taken again, by `parent`
  int steps, call_depth, loop_depth, nesting;
  const char *like; // the module that a parameter has by default whose value from outside is evaluated; NULL
  bool halted;      // a bound was exceeded: nothing more is run
  Value *result;    // of the function that returns
} Compile;

extern Compile *compile;

// A node and the instance in whose body it was met.
typedef struct {
  Node *node;
  Inst *inst;
  Scope *scope;
} Attached;

// Reports an error, with the path of the running instance.
void problem(Location where, const char *check, const char *format, ...) G_GNUC_PRINTF(3, 4);

// Counts nesting of evaluation, whose every level takes stack; false, after one error, when it is too deep.  A true
// result is followed by leave().
bool enter(Location where);
void leave(void);

// Counts work; false, after one error, when the bound on steps is exceeded.
bool charge(int steps, Location where);

// ---- Files (load.c)

// Reads a file and what it imports, and declares its names; NULL, with an error at `where`, when it cannot be read.
SourceFile *load_file(const char *path, Location where);
// A module that was not imported, looked up on the search path by its name; NULL when there is none.
Symbol *load_module(const char *name);
// Whether a module that a value names has what the body around `instance`, a NODE_INSTANCE or NODE_WRAPS, uses of it in
// any case; false with an error.
bool part_fits(Node *instance, const GPtrArray *body, const Symbol *module, const Value *value);
// The name of a known module that is much like that of an expression; NULL: none.
const char *module_suggestion(const Expr *expr);
// The module of the same kind as `like` that a wrong name may stand for: `fast_processor` for "fast" or "fast_core",
// where `like` is `scalar_processor`; NULL: none.
const char *part_suggestion(const char *name, const char *like);
// The name of the module that a parameter has by default; NULL: none.
const char *part_of_default(const Node *parameter);

// ---- Scopes (scope.c) --------------------------------------------------------------------------------------
typedef enum {
  SYMBOL_VALUE,       // variables, parameters, constants that were computed, clocks
  SYMBOL_RUNTIME,     // runtime parameters
  SYMBOL_DECLARATION, // `node`: struct, enum, bundle, type, function, const, module
  SYMBOL_INSTANCE,
  SYMBOL_INSTANCES,
  SYMBOL_PORT,
  SYMBOL_USERPOINT,
  SYMBOL_LOCAL,
  SYMBOL_PROMISED // of a wrapped module: worked out when it is looked up first (wraps.c)
} SymbolKind;

struct Symbol {
  SymbolKind kind;
  const char *name;
  Location place;
  bool assignable;
  bool busy, done; // declarations that are computed on first use
  Value *value;
  union { // what else belongs to its kind
    struct {
      Node *node;
      SourceFile *file;
      Type *type;
    };
    struct {
      GPtrArray *insts;
      Inst *inst; // of a single instance
    };
    PortDecl *port;
    Userpoint *userpoint;
    Parameter *parameter;
    Local *local;
    Promise *promise;
  };
};

struct Scope {
  Scope *parent;
  Inst *owner;       // whose type variables are meant; NULL in functions and globals
  GHashTable *names; // name -> Symbol*
  bool function;     // the body of a function: no structure may be built in it
  bool kept;         // something in it is evaluated later
};

Scope *scope_new(Scope *parent, Inst *owner);
// The outermost scope of what a file says: the globals and, within them, the names that are private to it.
Scope *file_scope(const SourceFile *file);
// Reports a name that another file keeps private; false when there is none.
bool report_private(const char *name, Location where);
// Ends a scope that its block has left, whose memory another may take.
void scope_end(Scope *scope);
// Keeps a scope, and those around it, for what is evaluated after their blocks were left.
void scope_keep(Scope *scope);
// Declares a name; NULL, with an error, when the scope has it already.
Symbol *scope_declare(Scope *scope, SymbolKind kind, const char *name, Location place);
Symbol *scope_find(Scope *scope, const char *name);
// What a name means where only a type (or bundle), or only a module, is allowed: nothing else of that name hides it.
Symbol *scope_find_type(Scope *scope, const char *name);
Symbol *scope_find_module(Scope *scope, const char *name);
// The nearest visible name, or NULL.
const char *scope_suggestion(Scope *scope, const char *name);
// What to do about a name in a file that means nothing: the import of a file of types that declares it, or else the
// name `near`, if it is not NULL; to be appended to a message.
const char *unknown_name_cure(const char *name, const char *file, const char *near);
// Whether a C compiler, or the vocabulary of module code, would misread a name.
bool is_c_word(const char *name);
// Reports a name that C cannot take.
void check_c_name(const char *name, Location place, const char *what);
void check_c_type_name(const char *name, Location place);

// ---- Expressions (evaluate.c) ------------------------------------------------------------------------------
typedef enum {
  OPERAND_NONE,
  OPERAND_VALUE,
  OPERAND_INSTANCE,
  OPERAND_INSTANCES,
  OPERAND_PORT,
  OPERAND_USERPOINT,
  OPERAND_LOCAL,
  OPERAND_RUNTIME
} OperandKind;

// What an expression denotes; only values can be computed with.
typedef struct {
  OperandKind kind;
  Value *value;
  Inst *inst; // an instance, or the instance of a port
  GPtrArray *insts;
  bool own;           // a port of the module whose body it is
  const char *port;   // declared name
  const char *member; // "request", or NULL
  Userpoint *userpoint;
  Symbol *symbol;
} Operand;

Operand resolve(Scope *scope, Expr *expr);
Value *evaluate(Scope *scope, Expr *expr);
Expr *expr_of_value(Value *value);               // one that has this value
Operand evaluate_call(Scope *scope, Expr *expr); // EXPR_CALL (call.c)
Value *evaluate_code(Scope *scope, Expr *expr);  // EXPR_CODE (interpolate.c)
bool evaluate_bool(Scope *scope, Expr *expr, bool *truth);
bool evaluate_int(Scope *scope, Expr *expr, const char *what, int64_t least, int64_t most, int64_t *result);
// `needs_result`: a function that ends without a value is an error.
Value *call_function(Scope *scope, Symbol *function, Expr *call, bool needs_result);

// ---- Statements (execute.c) --------------------------------------------------------------------------------
typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_STOP } Flow;
Flow execute(Scope *scope, Node *node);
Flow execute_all(Scope *scope, GPtrArray *nodes);

// ---- Types (types.c, typeexpr.c) ---------------------------------------------------------------------------
typedef enum { TERM_TYPE, TERM_VARIABLE, TERM_ARRAY } TermKind;

struct Term {
  TermKind kind;
  Type *type;
  Term *element; // arrays
  int length;
  const char *name;        // variables
  Term *bound;             // variables: what it was unified with
  GPtrArray *alternatives; // variables: Type*, or NULL for any
  Location place;
  bool reported;
};

Term *term_of(Type *type);
Term *term_variable(const char *name, Location place);
// An array of `length`; NULL, with an error, when it would be too large.
Term *checked_array(Term *element, int64_t length, Location where);
Term *term_array(Term *element, int length);
Term *term_find(Term *term);
char *term_text(Term *term);
// Makes two terms equal; false when they cannot be.  What was unified before a failure stays.
bool unify(Term *a, Term *b);
// The type of a term, or NULL while it is not known.
Type *term_type(Term *term);

Type *type_simple(TypeKind kind, int bits); // bool, integers, bits, floats, string, stream
Type *type_array(Type *element, int length);
Type *type_struct(const char *name, const char *c_name, GPtrArray *fields);
Type *type_packed(const char *name, const char *c_name, Type *base, GPtrArray *members);
Type *type_enum(const char *name, GPtrArray *enumerators);
Type *type_builtin(const char *name); // "uint32"; NULL when there is none
bool type_can_travel(const Type *type);
int64_t type_scalars(const Type *type);
void type_names(GPtrArray *names);

// A type expression; NULL after errors.
Term *evaluate_term(Scope *scope, Expr *expr);
// One without type variables; NULL after errors.
Type *evaluate_type(Scope *scope, Expr *expr);
// The type that a declaration denotes (struct, enum, type), with arguments (Value*, may be NULL) for a family.
Type *declared_type(Symbol *symbol, GPtrArray *arguments, Location where);

// The scope of a family's body, with its arguments by name; *suffix is "(64)", *c_suffix "_64".  NULL after errors.
Scope *family_scope(Symbol *symbol, GPtrArray *arguments, Location where, char **suffix, char **c_suffix);
// True, with an error, when a declaration is needed to work out itself.
bool circular(Symbol *symbol, Location where);
// A packed word, as it is declared; NULL after errors.
Type *packed_of(Scope *scope, Node *node, const char *name, const char *c_name);
// The bits of the word that a value of one of its members is.
uint64_t packed_place(const Field *member, uint64_t value);
// False, with an error, when a field of this name was seen already.
bool check_field_name(GHashTable *seen, Node *field);

// The members of a bundle, flattened.
typedef struct {
  const char *path; // "request", "upper.reply"
  bool forward;
  Term *term;
  const char *doc;
  Location place;
} BundleMember;
// When the expression names a bundle, its members (of BundleMember*) and its name as written; else NULL.
GPtrArray *evaluate_bundle(Scope *scope, Expr *expr, bool *is_bundle, const char **text);

// Fits a value to a type of data or of a parameter; NULL, with an error that names `what`, when it does not fit.
Value *coerce_to_type(Value *value, Type *type, Location where, const char *what);
Value *coerce_to_parameter(Scope *scope, Value *value, Expr *type, Location where, const char *what);
// The struct behind a parameter's type, for records and lists of records; else NULL.
Type *parameter_record_type(Scope *scope, Expr *type);
bool parameter_type_valid(Scope *scope, Expr *type, bool runtime);

// A type that inference will know: `*slot` receives it.
typedef struct {
  Term *term;
  Type **slot;
  Location place;
  const char *what;
  Inst *inst;
  StateField *state; // its initial value is fitted then
  bool travels;      // must be a type that can be data
} Pending;
// `state`: the field that has the type, or NULL.
void pending_type(Term *term, Type **slot, Location place, const char *what, bool travels, StateField *state);

// ---- Instances (instance.c, declare.c)

// A parameter or userpoint set by the parent.
typedef struct {
  const char *name;
  Location place;
  Value *value;
  Parameter *alias; // a runtime parameter passed down whole
  bool used, was_read;
  bool absent;            // `NAME;` of a name that the parent does not have
  bool of_all;            // set for a whole array: one of it may be set again
  bool by_default;        // a userpoint of the parent that was not replaced, passed on
  bool by_wraps;          // passed on by the module around it
  const char *by_machine; // fixed by this machine, which extends another; else NULL
  bool by_module;         // brought by the value of a module
  bool optional;          // means nothing where the module has no such parameter
  Location read_place;
  const char *define; // from the command line: text still to be read
} Setting;

typedef enum { LANES_UNUSED, LANES_APPENDED, LANES_INDEXED, LANES_KEYED } LaneMode;

typedef struct {
  const char *key;
  Location place; // of the connection that made the lane
} KeyedLane;

// How one side of a port is connected, before its declaration is known.
typedef struct {
  const char *port, *member; // member NULL: the whole port
  LaneMode mode;
  int width;
  GPtrArray *lanes;   // KeyedLane* by lane; NULL unless they are keyed
  GHashTable *by_key; // key -> lane + 1, or -1 when several have it
  Location first;     // the first connection
  bool was_read;
  Location read_place;
} Use;

struct Inst {
  Instance *instance;
  Symbol *module; // NULL for the top
  SourceFile *file;
  GPtrArray *body; // Node*
  Inst *parent;
  GPtrArray *children; // Inst*
  int depth;
  Scope *scope;
  Scope *passed_on;            // around that: names that `wraps` passes on; NULL while there are none
  GPtrArray *wraps;            // Wrap*; NULL while there are none
  Node *wrapped;               // the `wraps` that made it, or NULL
  GHashTable *joined;          // its ports that are those of the module around it, by name; NULL while there are none
  GPtrArray *settings;         // Setting*, in order
  GPtrArray *left_alone;       // Setting*: what was read without being set; NULL while there is none
  struct Interface *interface; // of its module, as its parent read it; NULL while nothing was
  bool being_wrapped;          // the block of its `wraps` is being worked out
  const Value *chosen;         // the value that its module came by, or NULL
  SourceFile *machine;   // the file whose statements it has, the outermost of those that extend it; NULL: a module
  GPtrArray *outer;      // Use*: connections made by the parent; NULL while there are none
  GPtrArray *inner;      // likewise, made by its own body
  GPtrArray *port_list;  // PortDecl*
  GPtrArray *variables;  // Term* of the type variables; NULL while there are none
  GPtrArray *behaviours; // Node*
  Node *behaviour, *structure; // the first of each kind
  bool has_clock_clause;
  bool part;          // of a network: what may be a process of its own
  bool says_name;     // something in it asks for its path
  Inst *like;         // a part: that which was elaborated in its place; NULL: it was itself
  bool punted;        // its body gave up
  bool incomplete;    // its body left something out, as a condition could not be evaluated
  bool wraps_unknown; // it wraps a module that could not be found out, after an error
  Value *clock_value; // of `on`
  Location clock_place;
};

// A declared port: one member, or those of its bundle.
struct PortDecl {
  const char *name;
  Inst *inst;
  Node *node;
  bool output, optional, is_bundle;
  const char *bundle; // text
  const char *of;     // the wrapped instance that it comes from; NULL: declared in this module
  GPtrArray *members; // PortMember*
};

struct PortMember {
  PortDecl *decl;
  const char *path; // within the bundle; NULL for plain ports
  Port *port;
  Term *term;
  GPtrArray *outer, *inner; // Joint* by lane, holes are NULL
};

// What one side of one lane is connected to.
typedef struct {
  PortMember *member;
  bool inside; // to the inner side of the level's own port
  int lane;
  struct Link *link;
} Joint;

// One end of a connection as written.
typedef struct {
  Inst *inst;
  bool own;
  const char *port, *member;
  int lane;
  Location place;
} End;

typedef struct Link {
  End from, to;
  Inst *level;
  Term *annotation;
  Location location;
  bool clashed; // the types at its ends differ, which was reported
} Link;

// Two port members that a connection joins.
typedef struct {
  PortMember *from, *to;
  Link *link;
} Pair;

bool inst_ends(const Inst *inst); // connections end at its ports: it is a leaf, or stands for a part
Inst *inst_new(Inst *parent, Symbol *module, const char *name, Location place);
void inst_run(Inst *inst); // its body, then its children's
void execute_instance(Scope *scope, Node *node);
// The instances that a statement makes of a module, an array or one: Inst*, fewer after an error.
// `module` NULL: the modules of the list `each` or, where that is NULL, none.
GPtrArray *make_instances(Scope *scope, Node *node, Symbol *module, const Value *each, int64_t count);

// ---- Modules as values (modules.c)

// The module that an expression denotes; NULL after errors.  `*value` is what brings settings, or NULL.
Symbol *module_of(Scope *scope, Expr *expr, const Value **value);
// The same where a list of modules is allowed: NULL, and `*value` is the list.
Symbol *module_or_list(Scope *scope, Expr *expr, const Value **value);
Symbol *module_named(const Value *value);              // of a value
Value *module_with_settings(Scope *scope, Expr *expr); // EXPR_CALL with names; NULL after errors
// What a value of a module says of a parameter; NULL when it says nothing.
Value *module_setting(const Value *module, const char *name);
void give_setting(Inst *inst, const char *name, Value *value);
void give_settings(Inst *inst, const Value *module); // all that it brings
// The module of a name, for a runtime parameter that is called so, which has no value itself; NULL: there is none.
Value *module_called(const char *name, Location where);
// A setting by such a parameter, of a parameter of this type: where that is `module`, the module is meant.
void take_module_meant(Setting *setting, const Expr *type);

// Whether `NAME;` in a block of settings means something here: a module that is called like a parameter is not meant.
bool can_pass_on(Scope *scope, const char *name);
// `of_all`: as one of an array, which is set as a whole.
void set_parameter(Scope *scope, Inst *inst, const char *name, Location place, Expr *value, bool of_all);
Setting *find_setting(const Inst *inst, const char *name); // NULL when it was not set
Setting *read_setting(Inst *inst, const char *name, Location place);
void report_fixed_by_machine(const Setting *setting, Location place); // that it is set at `place` (machine.c)
PortDecl *find_declared_port(const Inst *inst, const char *name);     // NULL when there is none
// A parameter or userpoint whose parts mean something in different scopes, as it is passed on by `wraps`.
typedef struct {
  Node *node;
  Scope *types, *values, *ranges;
  Symbol *symbol; // promised before; NULL: it is declared in the body's scope
  const char *of; // the wrapped instance; NULL: its own
} Declaration;
// What the command line says of a parameter.
Value *read_define(const Setting *setting, const Node *node);
void declare_parameter_from(const Declaration *from);
void declare_userpoint_from(const Declaration *from);
void declare_parameter(Scope *scope, Node *node);
void declare_constant(Scope *scope, Node *node);
void declare_userpoint(Scope *scope, Node *node);
void declare_port(Scope *scope, Node *node);
// The same in two steps: a name whose lanes can be counted, and the types. NULL after errors.
PortDecl *declare_port_name(Scope *names, Node *node);
void declare_port_type(Scope *scope, PortDecl *decl);
void declare_state(Scope *scope, Node *node);
void declare_stat(Scope *scope, Node *node);
void declare_derived(Scope *scope, Node *node); // a statistic worked out of others
// Keeps what refers to the complete netlist, one of Compile's lists of its kind, for attach_instrumentation().
void declare_attached(GPtrArray *kind, Scope *scope, Node *node);
void declare_port_like(const PortDecl *like); // the same port of the running instance
void declare_cut(Scope *scope, Node *node);
void declare_local(Scope *scope, Node *node);
void declare_event(Scope *scope, Node *node);
void declare_clock(Scope *scope, Node *node);
void declare_behaviour(Scope *scope, Node *node);
const char *inst_path_of(const Inst *inst, const char *name); // "cpu[0].name"
const char *inst_title(const Inst *inst);                     // "instance `cpu[0]`", "the top module"

// ---- What is said of a machine from outside (machine.c) ------------------------------------------------------
// Reads what a file extends, if anything.
void load_extended(SourceFile *file);
// Declares a machine as a module that is called like its file; NULL, with an error, when the name is taken.
Symbol *declare_machine(SourceFile *file);
// Gives an instance the body of a machine, and what the files that extend it fix.
void take_machine(Inst *inst, SourceFile *file);
// Puts what files that extend a machine say of a parameter in the place of its declaration; true when one fixes it.
// `machine` NULL: there are none.
bool replace_by_machine(SourceFile *machine, Declaration *from);
void check_machine_settings(const Inst *inst); // when its body has run: that each names a parameter
void take_defines(Inst *top);
// The setting of a parameter of an instance: what -D PATH.NAME gives where nothing else was, NULL where nothing is.
Setting *defined_setting(Inst *inst, const char *name, Setting *given);
void check_defines(void); // when all bodies have run: that each was of use

// ---- What is known of an instance before its body runs (interface.c) -----------------------------------------
// Whether its module, or one that it wraps, has such a constant; the value is NULL after errors.
bool constant_of(Inst *inst, const char *name, Location where, Value **value);
// Reports that its module declares nothing of this name; false when it does.
bool report_no_constant(Inst *inst, const char *name, const Expr *expr);
bool has_port(Inst *inst, const char *name, Location where);

// ---- Wrapped modules (wraps.c) -------------------------------------------------------------------------------
void execute_wraps(Scope *scope, Node *node);
void keep_promise(Symbol *symbol);   // works out what a name that is passed on means
void join_wrapped_ports(Inst *inst); // when its body has run
// `optional` in the settings of an instance whose module is named there.
void report_optional(const Node *setting);
// False, with an error, for a name that is passed on to the running body and is a global one as well.
bool check_passed_name(const Symbol *symbol, Location where);

// ---- Connections (connect.c, join.c) -----------------------------------------------------------------------
void execute_connection(Scope *scope, Node *node);
// Connects all lanes of a port of the running body's module to those of the same name of an instance inside.
void connect_whole(Inst *inner, const PortDecl *port, Location where);

// Warns of an `if` or a `for` around a connection that says no more than the connection with [*] (guards.c).
void check_guard(Scope *scope, const Node *node);
// How lanes of a port are made, by the level that it belongs to or, `own`, by its own body; NULL while there are none.
Use *find_use(Inst *inst, bool own, const char *port, const char *member);
// Lanes of an own port, or those made so far of a child's; marks the width as read.
int port_width(Inst *inst, bool own, const char *port, const char *member, Location where);
void join_links(void);
void make_connections(void);

// ---- Keys of lanes (keys.c) --------------------------------------------------------------------------------
// Evaluates what is in brackets behind a port: a key (*key is set) or a lane's number.
bool evaluate_lane(Scope *scope, Expr *expr, int64_t least, int64_t most, const char **key, int64_t *lane);
void use_add_key(Use *use, const char *key, Location place); // of a lane just made
// The key that a lane has outside; NULL when it has none.
const char *lane_key(Inst *inst, const char *port, const char *member, int lane);
// The lane of an own port that has a key; -1, with an error at `where`, when there is none or more than one.
int lane_with_key(Inst *inst, const char *port, const char *member, const char *key, Location where);
Value *port_keys(Inst *inst, const char *port, const char *member, Location where); // `p.keys`
// Of a port that was just declared: checks what its declaration asks of keys, and stores them in the netlist.
void check_port_keys(PortDecl *decl);
void execute_check_keys(Scope *scope, Expr *call);

// ---- After elaboration -------------------------------------------------------------------------------------
void infer_types(bool complete);   // complete: all connections were joined
void expand_behaviour(void);       // lss/attach
void assign_clocks(void);          // lss/attach
void attach_instrumentation(void); // lss/attach
void check_elaborated(void);       // what must hold before connections are made (lss/attach)
void run_parts(void);              // those parts of a network that waited, unless another is like them (lss/attach)
Part *part_new(Inst *inst);        // of the netlist, of which this one is elaborated (lss/attach/parts.c)
void check_part_ports(Inst *inst); // of a part of a network: they have concrete types (lss/attach/parts.c)
void check_parts(void);            // what parts are connected to
void check_cut(Inst *inst);        // of a crossing that may be cut, by its declarations
void check_pace(void);             // of wires (lss/attach)
void check_netlist(void);          // what must hold of a complete netlist (lss/attach)

#endif
