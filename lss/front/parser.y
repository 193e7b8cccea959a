%code requires {
// The grammar of LSS.  It builds the tree and decides nothing: what a name means, and whether a statement is allowed
// where it is, is the elaborator's business.
#include "lss/front/scanner.h"
}
%code {
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

// Nesting beyond this is refused; walks over the tree recurse.
#define YYMAXDEPTH 3000

// What flex generates for a reentrant scanner.
int yylex(YYSTYPE *value, YYLTYPE *where, void *scanner);

static void yyerror(YYLTYPE *where, Scan *scan, void *scanner, const char *text);

#define YYLLOC_DEFAULT(Current, Rhs, N)                                            \
  do {                                                                             \
    if (N) {                                                                       \
      int first = 1; /* an empty part, such as a left-out word, has no place */    \
      while (first < N && is_empty(YYRHSLOC(Rhs, first))) first++;                 \
      (Current) = location_span(YYRHSLOC(Rhs, first), YYRHSLOC(Rhs, N));           \
    } else {                                                                       \
      (Current) = YYRHSLOC(Rhs, 0);                                                \
      (Current).line = (Current).end_line;                                         \
      (Current).column = (Current).end_column;                                     \
    }                                                                              \
  } while (0)

static bool is_empty(Location where) { return where.line == where.end_line && where.column == where.end_column; }

// Expressions of hostile depth are rejected immediately: every walk over the tree recurses.
#define CLOSE(e) do { if (!expr_close(e)) { scan->errors++; YYABORT; } } while (0)
}

%define api.pure full
%define api.location.type {Location}
%define parse.error custom
%define parse.lac full
%locations
%parse-param {Scan *scan}
%param {void *scanner}
%initial-action { @$ = (Location){scan->path, 1, 1, 1, 1}; }

%union {
  const char *text;
  Expr *expr;
  Node *node;
  GPtrArray *list;
  bool flag;
  int op;
}

%token END_OF_INPUT 0 "the end of the file"
%token START_FILE START_EXPRESSION
%token <text> NAME "a name" TYPE_VARIABLE "a type variable" STRING_LITERAL "a string" CODE_TEXT "C code <<< >>>"
%token <expr> INTEGER "a number" FLOAT "a fractional number" QUANTITY "a quantity"
%token <text> BOOL "bool" BREAK "break" BUNDLE "bundle" BITS "bits" CLOCK "clock" COLLECTOR "collector" CONST "const"
%token <text> CONTINUE "continue" CROSSING "crossing" DEBUG "debug" ELSE "else" ENUM "enum" EVENT "event"
%token <text> FALSE_WORD "false" FINISH "finish" FOR "for" FUNCTION "function" HANDLER "handler" IF "if" IMPORT "import"
%token <text> ALWAYS "always" INIT "init" INPORT "inport" INSTANCE "instance" LOCAL "local" MODULE "module" NEXT_EVENT "next_event"
%token <text> PART "part" CUT "cut" CONSERVES "conserves" CONSUMES "consumes" MAKES "makes" IDENTITY "identity"
%token <text> ALTERED "altered" AWAITED "awaited" DROPPED "dropped" HELD "held" MADE "made"
%token <text> PACED "paced" KEYED "keyed" REPEATED "repeated" COUNTER "counter" INSTANT "instant" STAMP "stamp" MEMORY "memory" TRACE "trace" FLIGHT "flight" PACKED "packed"
%token <text> ON "on" OPTIONAL "optional" OUTPORT "outport" PARAMETER "parameter" PARTIAL "partial" PHASE_END "phase_end"
%token <text> PHASE_START "phase_start" RETURN "return" RUNTIME "runtime" STATE "state" STAT "stat" STRING "string"
%token <text> STRUCT "struct" TRUE_WORD "true" TYPE "type" USERPOINT "userpoint" VAR "var" WHILE "while"
%token ARROW "->" DOTS ".." OR "||" AND "&&" EQ "==" NE "!=" LE "<=" GE ">=" SHL "<<" SHR ">>"

%type <node> item declaration module instance wraps statement port_declaration conserved_part simple field packed_member state_field enumerator member section role setting argument struct_argument signature_field excepted_name
%type <list> conserved_parts conserved_ports items body block fields packed_members state_fields enumerators members sections roles settings opt_settings opt_except excepted_names arguments opt_arguments struct_arguments opt_struct_arguments
%type <list> signature opt_signature dimensions expressions opt_expressions signals opt_signals receivers
%type <expr> expr conditional binary unary postfix reference other primary type_name opt_type opt_default opt_range in_range range ranged_field field_member opt_count opt_on signal opt_condition record_fields
%type <text> name_word opt_handler_index opt_string makes_or_consumes conserved_term
%type <op> opt_runtime
%type <flag> opt_optional opt_paced opt_partial opt_crossing direction flow
%type <op> opt_keyed
%type <node> opt_role_port

%left OR
%left AND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' LE '>' GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'
%precedence THEN
%precedence ELSE

%%
input:
    START_FILE items               { scan->file->nodes = $2; }
  | START_EXPRESSION expr          { scan->expression = $2; }
  ;

items:
    %empty                         { $$ = arena_array(); }
  | items item                     { $$ = parse_with($1, $2); }
  | items error ';'                { $$ = $1; }
  ;
item:
    declaration
  | statement
  | ';'                            { $$ = NULL; }
  ;

body:
    '{' items '}'                  { $$ = $2; }
  | '{' items error '}'            { $$ = $2; }
  ;
block:
    body                           { $$ = $1; }
  | statement                      { $$ = parse_list($1); }
  | ';'                            { $$ = arena_array(); }
  ;

/* ---- Declarations --------------------------------------------------------------------------------------------- */
declaration:
    IMPORT NAME ';'                { $$ = node_new(NODE_IMPORT, @$); $$->name = $2; $$->place = @2; }
  | NAME NAME opt_settings         {
      parse_word(scan, @1, $1, "extends", "before the name of a machine");
      $$ = node_new(NODE_EXTENDS, @$); $$->name = $2; $$->place = @2; $$->body = $3; }
  | STRUCT NAME opt_struct_arguments '{' fields '}' {
      $$ = parse_declare(scan, NODE_STRUCT, @$, $2, @2); $$->arguments = $3; $$->body = $5; }
  | ENUM NAME '{' enumerators '}'  { $$ = parse_declare(scan, NODE_ENUM, @$, $2, @2); $$->body = $4; }
  | ENUM NAME '{' enumerators ',' '}' { $$ = parse_declare(scan, NODE_ENUM, @$, $2, @2); $$->body = $4; }
  | PACKED NAME opt_struct_arguments ':' type_name '{' packed_members '}' {
      $$ = parse_declare(scan, NODE_PACKED, @$, $2, @2); $$->arguments = $3; $$->type = $5; $$->body = $7; }
  | BUNDLE NAME opt_struct_arguments '{' members '}' {
      $$ = parse_declare(scan, NODE_BUNDLE, @$, $2, @2); $$->arguments = $3; $$->body = $5; }
  | TYPE NAME '=' expr ';'         { $$ = parse_declare(scan, NODE_TYPE, @$, $2, @2); $$->type = $4; }
  | FUNCTION NAME '(' opt_arguments ')' opt_type body {
      $$ = parse_declare(scan, NODE_FUNCTION, @$, $2, @2); $$->arguments = $4; $$->type = $6; $$->body = $7; }
  | CONST NAME '=' expr ';'        { $$ = parse_declare(scan, NODE_CONST, @$, $2, @2); $$->value = $4; }
  | module                         { $$ = $1; }
  | PART module                    { $$ = $2; $$->location = @$; $$->part = true; }
  | opt_runtime PARAMETER NAME opt_default ':' expr opt_range ';' {
      $$ = parse_declare(scan, NODE_PARAMETER, @$, $3, @3); $$->runtime = $1 > 0; $$->initial = $1 > 1; $$->value = $4; $$->type = $6; $$->range = $7; }
  | USERPOINT NAME opt_signature ARROW type_name opt_default ';' {
      $$ = parse_declare(scan, NODE_USERPOINT, @$, $2, @2); $$->arguments = $3; $$->type = $5; $$->value = $6; }
  | port_declaration
  | STATE '{' state_fields '}'     { $$ = node_new(NODE_STATE, @$); $$->body = $3; }
  | LOCAL type_name NAME dimensions ';' {
      $$ = parse_declare(scan, NODE_LOCAL, @$, $3, @3); $$->type = $2; $$->dimensions = $4; }
  | NAME LOCAL type_name NAME dimensions ';' {
      parse_word(scan, @1, $1, "specialize", "before local");
      $$ = parse_declare(scan, NODE_LOCAL, @$, $4, @4); $$->type = $3; $$->dimensions = $5; $$->specialize = true; }
  | STAT type_name NAME dimensions opt_string ';' {
      $$ = parse_declare(scan, NODE_STAT, @$, $3, @3); $$->type = $2; $$->dimensions = $4; $$->text = $5; $$->state = STATE_COUNTER; }
  | STAT NAME '=' expr opt_string ';' { $$ = parse_declare(scan, NODE_DERIVED, @$, $2, @2); $$->value = $4; $$->text = $5; }
  | NAME STAT type_name NAME dimensions opt_string ';' {
      parse_word(scan, @1, $1, "gauge", "before stat");
      $$ = parse_declare(scan, NODE_STAT, @$, $4, @4); $$->type = $3; $$->dimensions = $5; $$->text = $6; $$->gauge = true; $$->state = STATE_COUNTER; }
  | CONSERVES conserved_parts ';'  { $$ = parse_declare(scan, NODE_CONSERVATION, @$, $1, @1); $$->body = $2; }
  | makes_or_consumes conserved_ports ';' { $$ = parse_declare(scan, NODE_CONSERVATION, @$, $1, @1); $$->body = $2; }
  | CUT expr ';'                   { $$ = parse_declare(scan, NODE_CUT, @$, $1, @1); $$->value = $2; }
  | IDENTITY expr ';'              { $$ = parse_declare(scan, NODE_IDENTITY, @$, $1, @1); $$->value = $2; }
  | PHASE_START ';'                {
      $$ = node_new(NODE_BEHAVIOUR, @$); $$->function = FUNCTION_PHASE_START; $$->name = "phase_start"; $$->place = @1;
      $$->reads = arena_array(); $$->writes = arena_array(); }
  | PHASE_START ARROW opt_signals ';' {
      $$ = node_new(NODE_BEHAVIOUR, @$); $$->function = FUNCTION_PHASE_START; $$->name = "phase_start"; $$->place = @1;
      $$->reads = arena_array(); $$->writes = $3; }
  | opt_partial HANDLER NAME opt_handler_index ':' opt_signals ARROW opt_signals ';' {
      $$ = parse_declare(scan, NODE_BEHAVIOUR, @$, $3, @3); $$->function = FUNCTION_HANDLER; $$->partial = $1; $$->index_name = $4;
      $$->reads = $6; $$->writes = $8; }
  | opt_partial HANDLER NAME '(' NAME ')' ';' {
      parse_word(scan, @3, $3, "reset", "before a parameter");
      $$ = node_new(NODE_BEHAVIOUR, @$); $$->function = FUNCTION_RESET; $$->name = "reset"; $$->place = @3; $$->partial = $1;
      $$->value = parse_text_expr(EXPR_NAME, @5, $5); }
  | ALWAYS opt_signals ';'         {
      $$ = node_new(NODE_BEHAVIOUR, @$); $$->function = FUNCTION_ALWAYS; $$->name = "always"; $$->place = @1;
      $$->reads = arena_array(); $$->writes = $2; }
  | PHASE_END opt_role_port ';'    {
      $$ = $2; $$->location = @$; $$->function = FUNCTION_PHASE_END; $$->name = "phase_end"; $$->place = @1; }
  | INIT ';'                       {
      $$ = node_new(NODE_BEHAVIOUR, @$); $$->function = FUNCTION_INIT; $$->name = "init"; $$->place = @1; }
  | FINISH ';'                     {
      $$ = node_new(NODE_BEHAVIOUR, @$); $$->function = FUNCTION_FINISH; $$->name = "finish"; $$->place = @1; }
  | NEXT_EVENT opt_role_port ';'   {
      $$ = $2; $$->location = @$; $$->function = FUNCTION_NEXT_EVENT; $$->name = "next_event"; $$->place = @1; }
  | EVENT NAME opt_signature ';'   { $$ = parse_declare(scan, NODE_EVENT, @$, $2, @2); $$->arguments = $3; }
  | COLLECTOR NAME ON STRING_LITERAL EVENT NAME '{' sections '}' {
      $$ = parse_declare(scan, NODE_COLLECTOR, @$, $2, @2); $$->text = $4; $$->type_name = $6; $$->body = $8; }
  | NAME COLLECTOR NAME ON STRING_LITERAL EVENT NAME '{' sections '}' {
      parse_word(scan, @1, $1, "shared", "before collector");
      $$ = parse_declare(scan, NODE_COLLECTOR, @$, $3, @3); $$->text = $5; $$->type_name = $7; $$->body = $9; $$->shared = true; }
  | DEBUG NAME '{' roles '}'       { $$ = parse_declare(scan, NODE_DEBUG, @$, $2, @2); $$->body = $4; }
  | CLOCK NAME '=' expr ';'        { $$ = parse_declare(scan, NODE_CLOCK, @$, $2, @2); $$->value = $4; }
  | instance                       { $$ = $1; }
  | PART instance                  { $$ = $2; $$->location = @$; $$->part = true; }
  | wraps                          { $$ = $1; }
  | PART wraps                     { $$ = $2; $$->location = @$; $$->part = true; }
  ;
wraps:
    NAME NAME opt_count ':' expr opt_except opt_on opt_settings {
      parse_word(scan, @1, $1, "wraps", "before a name and a module");
      $$ = parse_declare(scan, NODE_WRAPS, @$, $2, @2); $$->value = $3; $$->type = $5; $$->arguments = $6; $$->clock = $7; $$->body = $8; }
  ;
module:
    MODULE NAME opt_crossing body  {
      $$ = parse_declare(scan, NODE_MODULE, @$, $2, @2); $$->crossing = $3; $$->body = $4; }
  ;
instance:
    INSTANCE NAME opt_count ':' expr opt_on opt_settings {
      $$ = parse_declare(scan, NODE_INSTANCE, @$, $2, @2); $$->value = $3; $$->type = $5; $$->clock = $6; $$->body = $7; }
  ;
/* What a wrapped module keeps to itself. */
opt_except:
    %empty                         { $$ = arena_array(); }
  | NAME excepted_names            { parse_word(scan, @1, $1, "except", "after the module"); $$ = $2; }
  ;
excepted_names:
    excepted_name                  { $$ = parse_list($1); }
  | excepted_names ',' excepted_name { $$ = parse_with($1, $3); }
  ;
excepted_name:
    opt_optional NAME              {
      $$ = node_new(NODE_ARGUMENT, @$); $$->name = $2; $$->place = @2; $$->optional = $1; }
  ;

makes_or_consumes: MAKES | CONSUMES ;
/* A part is a port, or a term of the account: `held count`. */
conserved_parts:
    conserved_part                 { $$ = parse_list($1); }
  | conserved_parts ',' conserved_part { $$ = parse_with($1, $3); }
  ;
conserved_part:
    reference                      { $$ = node_new(NODE_PART, @$); $$->value = $1; }
  | ALTERED                        { $$ = node_new(NODE_PART, @$); $$->name = $1; }
  | conserved_term expr            { $$ = node_new(NODE_PART, @$); $$->name = $1; $$->value = $2; }
  ;
conserved_term: HELD | DROPPED | MADE | AWAITED ;
conserved_ports:
    reference                      { $$ = parse_list(node_new(NODE_PART, @$)); ((Node *)$$->pdata[0])->value = $1; }
  | conserved_ports ',' reference  { Node *part = node_new(NODE_PART, @3); part->value = $3; $$ = parse_with($1, part); }
  ;

port_declaration:
    opt_optional opt_paced opt_keyed direction NAME ':' expr ';' {
      $$ = parse_declare(scan, NODE_PORT, @$, $5, @5);
      $$->optional = $1; $$->paced = $2; $$->keyed = $3 > 0; $$->repeated = $3 > 1; $$->output = $4; $$->type = $7; }
  ;
opt_paced: %empty { $$ = false; } | PACED { $$ = true; } ;
opt_keyed: %empty { $$ = 0; } | KEYED { $$ = 1; } | KEYED REPEATED { $$ = 2; } ;
opt_optional: %empty { $$ = false; } | OPTIONAL { $$ = true; } ;
direction: INPORT { $$ = false; } | OUTPORT { $$ = true; } ;
opt_runtime: %empty { $$ = 0; } | RUNTIME { $$ = 1; } | RUNTIME INIT { $$ = 2; } ;
opt_partial: %empty { $$ = false; } | PARTIAL { $$ = true; } ;
opt_crossing: %empty { $$ = false; } | CROSSING { $$ = true; } ;
opt_default: %empty { $$ = NULL; } | '=' expr { $$ = $2; } ;
/* What a parameter, a field or a member may be: `in 1..64`, `in 1..`, `in ..64`. */
opt_range: %empty { $$ = NULL; } | in_range ;
in_range: in_word range            { $$ = $2; CLOSE($$); } ;
in_word:
    NAME                           {
      parse_word(scan, @1, $1, "in", "after the name and the type");
      if (strcmp($1, "in") != 0) YYERROR; }
  ;
range:
    expr DOTS expr                 { $$ = expr_new(EXPR_INDEX_RANGE, @$); $$->right = $1; $$->third = $3; }
  | expr DOTS                      { $$ = expr_new(EXPR_INDEX_RANGE, @$); $$->right = $1; }
  | DOTS expr                      { $$ = expr_new(EXPR_INDEX_RANGE, @$); $$->third = $2; }
  ;
opt_count: %empty { $$ = NULL; } | '[' expr ']' { $$ = $2; } ;
opt_on: %empty { $$ = NULL; } | ON expr { $$ = $2; } ;
opt_type: %empty { $$ = NULL; } | ':' expr { $$ = $2; } ;
opt_string: %empty { $$ = NULL; } | STRING_LITERAL ;
opt_handler_index: %empty { $$ = NULL; } | '[' NAME ']' { $$ = $2; } ;
opt_role_port:
    %empty                         { $$ = node_new(NODE_BEHAVIOUR, @$); }
  | reference                      { $$ = node_new(NODE_BEHAVIOUR, @$); $$->value = $1; }
  ;

fields:
    %empty                         { $$ = arena_array(); }
  | fields field                   { $$ = parse_with($1, $2); }
  | fields error ';'               { $$ = $1; }
  ;
field:
    type_name NAME dimensions opt_range opt_default ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $2, @2); $$->type = $1; $$->dimensions = $3; $$->within = $4; $$->value = $5; }
  ;
packed_members:
    %empty                         { $$ = arena_array(); }
  | packed_members packed_member   { $$ = parse_with($1, $2); }
  | packed_members error ';'       { $$ = $1; }
  ;
/* Its first bit, or its first and its last. */
packed_member:
    type_name NAME ':' expr opt_range ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $2, @2); $$->type = $1; $$->range = expr_new(EXPR_INDEX_RANGE, @4);
      $$->range->right = $4; $$->within = $5; CLOSE($$->range); }
  | type_name NAME ':' expr DOTS expr opt_range ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $2, @2); $$->type = $1; $$->range = expr_new(EXPR_INDEX_RANGE, location_span(@4, @6));
      $$->range->right = $4; $$->range->third = $6; $$->within = $7; CLOSE($$->range); }
  ;
state_fields:
    %empty                         { $$ = arena_array(); }
  | state_fields state_field       { $$ = parse_with($1, $2); }
  | state_fields error ';'         { $$ = $1; }
  ;
state_field:
    field
  | field_member in_range ';'      { $$ = node_new(NODE_RANGE, @$); $$->target = $1; $$->within = $2; }
  | ranged_field '%' unary in_range ';' { $$ = node_new(NODE_RANGE, @$); $$->target = $1; $$->value = $3; $$->within = $4; }
  | INSTANT NAME dimensions ';'    {
      $$ = parse_declare(scan, NODE_FIELD, @$, $2, @2); $$->type = parse_text_expr(EXPR_NAME, @1, "uint64"); $$->dimensions = $3;
      $$->state = STATE_INSTANT; }
  | STAMP NAME dimensions ';'      {
      $$ = parse_declare(scan, NODE_FIELD, @$, $2, @2); $$->type = parse_text_expr(EXPR_NAME, @1, "uint64"); $$->dimensions = $3;
      $$->state = STATE_STAMP; }
  | COUNTER type_name NAME dimensions ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $3, @3); $$->type = $2; $$->dimensions = $4; $$->state = STATE_COUNTER; }
  | TRACE type_name NAME dimensions ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $3, @3); $$->type = $2; $$->dimensions = $4; $$->state = STATE_TRACE; }
  | MEMORY type_name NAME dimensions opt_range opt_default ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $3, @3); $$->type = $2; $$->dimensions = $4; $$->within = $5; $$->value = $6;
      $$->state = STATE_MEMORY; }
  | FLIGHT type_name NAME dimensions ';' {
      $$ = parse_declare(scan, NODE_FIELD, @$, $3, @3); $$->type = $2; $$->dimensions = $4; $$->state = STATE_FLIGHT; }
  ;
ranged_field:
    name_word                      { $$ = parse_text_expr(EXPR_NAME, @$, $1); $$->place = @1; }
  | field_member
  ;
/* What a field's struct or packed word has, of all elements where there are several: `entry.way`. */
field_member:
    name_word '.' NAME             {
      $$ = parse_text_expr(EXPR_FIELD, @$, $3); $$->left = parse_text_expr(EXPR_NAME, @1, $1); $$->left->place = @1; $$->place = @3; CLOSE($$); }
  | field_member '.' NAME          { $$ = parse_text_expr(EXPR_FIELD, @$, $3); $$->left = $1; $$->place = @3; CLOSE($$); }
  ;
dimensions:
    %empty                         { $$ = arena_array(); }
  | dimensions '[' expr ']'        { $$ = parse_with($1, $3); }
  ;
enumerators:
    enumerator                     { $$ = parse_list($1); }
  | enumerators ',' enumerator     { $$ = parse_with($1, $3); }
  ;
enumerator:
    NAME opt_default               { $$ = parse_declare(scan, NODE_ENUMERATOR, @$, $1, @1); $$->value = $2; }
  ;
members:
    %empty                         { $$ = arena_array(); }
  | members member                 { $$ = parse_with($1, $2); }
  | members error ';'              { $$ = $1; }
  ;
member:
    flow NAME ':' expr ';'         { $$ = parse_declare(scan, NODE_MEMBER, @$, $2, @2); $$->output = $1; $$->type = $4; }
  ;
flow:
    NAME {
      $$ = !strcmp($1, "forward");
      if (!$$ && strcmp($1, "backward") != 0) {
        diag_error(@1, "syntax", "a member of a bundle is `forward` or `backward`, not \"%s\"", $1);
        scan->errors++;
      } }
  ;
opt_struct_arguments: %empty { $$ = arena_array(); } | '(' struct_arguments ')' { $$ = $2; } ;
struct_arguments:
    struct_argument                { $$ = parse_list($1); }
  | struct_arguments ',' struct_argument { $$ = parse_with($1, $3); }
  ;
struct_argument:
    type_name NAME opt_default     {
      $$ = node_new(NODE_ARGUMENT, @$); $$->name = $2; $$->place = @2; $$->type = $1; $$->value = $3; }
  ;
opt_arguments: %empty { $$ = arena_array(); } | arguments ;
arguments:
    argument                       { $$ = parse_list($1); }
  | arguments ',' argument         { $$ = parse_with($1, $3); }
  ;
argument:
    NAME opt_type                  { $$ = node_new(NODE_ARGUMENT, @$); $$->name = $1; $$->place = @1; $$->type = $2; }
  ;
opt_signature: %empty { $$ = arena_array(); } | '(' signature ')' { $$ = $2; } | '(' ')' { $$ = arena_array(); } ;
signature:
    signature_field                { $$ = parse_list($1); }
  | signature ',' signature_field  { $$ = parse_with($1, $3); }
  ;
signature_field:
    type_name NAME dimensions      {
      $$ = node_new(NODE_FIELD, @$); $$->name = $2; $$->place = @2; $$->type = $1; $$->dimensions = $3; }
  ;
sections:
    %empty                         { $$ = arena_array(); }
  | sections section               { $$ = parse_with($1, $2); }
  ;
section:
    NAME CODE_TEXT                 {
      $$ = node_new(NODE_SECTION, @$); $$->name = $1; $$->place = @1; $$->value = parse_code(scan, @2, $2); }
  | NAME ON STRING_LITERAL EVENT NAME CODE_TEXT {
      parse_word(scan, @1, $1, "record", "before `on`");
      $$ = node_new(NODE_SECTION, @$); $$->name = $1; $$->place = @1; $$->text = $3; $$->type_name = $5; $$->value = parse_code(scan, @6, $6); }
  | INIT CODE_TEXT                 {
      $$ = node_new(NODE_SECTION, @$); $$->name = "init"; $$->place = @1; $$->value = parse_code(scan, @2, $2); }
  ;
roles:
    %empty                         { $$ = arena_array(); }
  | roles role                     { $$ = parse_with($1, $2); }
  ;
role:
    NAME '=' expr ';'              { $$ = node_new(NODE_ROLE, @$); $$->name = $1; $$->place = @1; $$->value = $3; }
  | NAME '=' expr NAME expr ';'    {
      parse_word(scan, @4, $4, "through", "after a state field");
      $$ = node_new(NODE_ROLE, @$); $$->name = $1; $$->place = @1; $$->value = $3; $$->target = $5; }
  | NAME ':' expr ';'              { $$ = node_new(NODE_PROPERTY, @$); $$->name = $1; $$->place = @1; $$->value = $3; }
  | expr DOTS expr '=' expr opt_type ';' {
      $$ = node_new(NODE_REGION, @$); $$->range = expr_new(EXPR_INDEX_RANGE, @1); $$->range->right = $1; $$->range->third = $3;
      CLOSE($$->range); $$->value = $5; $$->type = $6; }
  ;
opt_settings:
    ';'                            { $$ = arena_array(); }
  | '{' settings '}'               { $$ = $2; }
  ;
settings:
    %empty                         { $$ = arena_array(); }
  | settings setting               { $$ = parse_with($1, $2); }
  | settings error ';'             { $$ = $1; }
  ;
setting:
    NAME '=' expr ';'              {
      $$ = node_new(NODE_ASSIGN, @$); $$->name = $1; $$->place = @1; $$->target = parse_text_expr(EXPR_NAME, @1, $1); $$->value = $3; }
  | NAME ';'                       {
      $$ = node_new(NODE_ASSIGN, @$); $$->name = $1; $$->place = @1; $$->bare = true;
      $$->target = $$->value = parse_text_expr(EXPR_NAME, @1, $1); }
  | OPTIONAL NAME '=' expr ';'     {
      $$ = node_new(NODE_ASSIGN, @$); $$->name = $2; $$->place = @2; $$->optional = true;
      $$->target = parse_text_expr(EXPR_NAME, @2, $2); $$->value = $4; }
  | OPTIONAL NAME ';'              {
      $$ = node_new(NODE_ASSIGN, @$); $$->name = $2; $$->place = @2; $$->bare = $$->optional = true;
      $$->target = $$->value = parse_text_expr(EXPR_NAME, @2, $2); }
  | NAME NAME opt_default opt_range ';' {
      parse_word(scan, @1, $1, "default", "before the name of a parameter");
      $$ = parse_declare(scan, NODE_DEFAULT, @$, $2, @2); $$->value = $3; $$->range = $4; }
  ;
signals:
    signal                         { $$ = parse_list($1); }
  | signals ',' signal             { $$ = parse_with($1, $3); }
  ;
opt_signals: %empty { $$ = arena_array(); } | signals ;
signal: reference ;

/* ---- Statements ------------------------------------------------------------------------------------------------- */
statement:
    simple ';'                     { $$ = $1; $$->location = @$; }
  | reference ';'                  { $$ = node_new(NODE_CALL, @$); $$->target = $1; }
  | reference ARROW receivers opt_type ';' {
      $$ = node_new(NODE_CONNECT, @$); $$->target = $1; $$->receivers = $3; $$->type = $4; }
  | IF '(' expr ')' block %prec THEN { $$ = node_new(NODE_IF, @$); $$->value = $3; $$->body = $5; }
  | IF '(' expr ')' block ELSE block {
      $$ = node_new(NODE_IF, @$); $$->value = $3; $$->body = $5; $$->other = $7; }
  | FOR '(' simple ';' opt_condition ';' simple ')' block {
      $$ = node_new(NODE_FOR, @$); $$->first = parse_loop_start($3); $$->value = $5; $$->step = $7; $$->body = $9; }
  | FOR '(' NAME NAME expr ')' block {
      parse_word(scan, @4, $4, "in", "before a list");
      $$ = node_new(NODE_FOR_IN, @$); $$->name = $3; $$->place = @3; $$->value = $5; $$->body = $7; }
  | WHILE '(' expr ')' block       { $$ = node_new(NODE_WHILE, @$); $$->value = $3; $$->body = $5; }
  | BREAK ';'                      { $$ = node_new(NODE_BREAK, @$); }
  | CONTINUE ';'                   { $$ = node_new(NODE_CONTINUE, @$); }
  | RETURN ';'                     { $$ = node_new(NODE_RETURN, @$); }
  | RETURN expr ';'                { $$ = node_new(NODE_RETURN, @$); $$->value = $2; }
  ;
receivers:
    reference                      { $$ = parse_list($1); }
  | receivers ',' reference        { $$ = parse_with($1, $3); }
  ;
simple:
    VAR NAME '=' expr              { $$ = node_new(NODE_VAR, @$); $$->name = $2; $$->place = @2; $$->value = $4; }
  | reference '=' expr             { $$ = node_new(NODE_ASSIGN, @$); $$->target = $1; $$->value = $3; }
  ;
opt_condition: %empty { $$ = NULL; } | expr ;

/* ---- Expressions and types ---------------------------------------------------------------------------------------- */
expr: conditional ;
conditional:
    binary
  | binary '?' expr ':' conditional {
      $$ = expr_new(EXPR_CONDITIONAL, @$); $$->left = $1; $$->right = $3; $$->third = $5; CLOSE($$); }
  ;
binary:
    unary
  | binary OR binary               { $$ = expr_binary(OP_OR, $1, $3); CLOSE($$); }
  | binary AND binary              { $$ = expr_binary(OP_AND, $1, $3); CLOSE($$); }
  | binary '|' binary              { $$ = expr_binary('|', $1, $3); CLOSE($$); }
  | binary '^' binary              { $$ = expr_binary('^', $1, $3); CLOSE($$); }
  | binary '&' binary              { $$ = expr_binary('&', $1, $3); CLOSE($$); }
  | binary EQ binary               { $$ = expr_binary(OP_EQ, $1, $3); CLOSE($$); }
  | binary NE binary               { $$ = expr_binary(OP_NE, $1, $3); CLOSE($$); }
  | binary '<' binary              { $$ = expr_binary('<', $1, $3); CLOSE($$); }
  | binary LE binary               { $$ = expr_binary(OP_LE, $1, $3); CLOSE($$); }
  | binary '>' binary              { $$ = expr_binary('>', $1, $3); CLOSE($$); }
  | binary GE binary               { $$ = expr_binary(OP_GE, $1, $3); CLOSE($$); }
  | binary SHL binary              { $$ = expr_binary(OP_SHL, $1, $3); CLOSE($$); }
  | binary SHR binary              { $$ = expr_binary(OP_SHR, $1, $3); CLOSE($$); }
  | binary '+' binary              { $$ = expr_binary('+', $1, $3); CLOSE($$); }
  | binary '-' binary              { $$ = expr_binary('-', $1, $3); CLOSE($$); }
  | binary '*' binary              { $$ = expr_binary('*', $1, $3); CLOSE($$); }
  | binary '/' binary              { $$ = expr_binary('/', $1, $3); CLOSE($$); }
  | binary '%' binary              { $$ = expr_binary('%', $1, $3); CLOSE($$); }
  ;
unary:
    postfix
  | '-' unary                      { $$ = expr_unary('-', @$, $2); CLOSE($$); }
  | '!' unary                      { $$ = expr_unary('!', @$, $2); CLOSE($$); }
  | '~' unary                      { $$ = expr_unary('~', @$, $2); CLOSE($$); }
  | '+' unary                      { $$ = $2; }
  ;
postfix: reference | other ;

/* What a statement may begin with: a name, and what is selected from it. */
reference:
    name_word                      { $$ = parse_text_expr(EXPR_NAME, @$, $1); $$->place = @1; }
  | reference '.' NAME             { $$ = parse_text_expr(EXPR_FIELD, @$, $3); $$->left = $1; $$->place = @3; CLOSE($$); }
  | reference '[' expr ']'         { $$ = expr_new(EXPR_INDEX, @$); $$->left = $1; $$->right = $3; CLOSE($$); }
  | reference '[' '*' ']'          { $$ = expr_new(EXPR_INDEX_ALL, @$); $$->left = $1; CLOSE($$); }
  | reference '[' expr DOTS expr ']' {
      $$ = expr_new(EXPR_INDEX_RANGE, @$); $$->left = $1; $$->right = $3; $$->third = $5; CLOSE($$); }
  | reference '[' expr DOTS ']'    { $$ = expr_new(EXPR_INDEX_RANGE, @$); $$->left = $1; $$->right = $3; CLOSE($$); }
  | reference '[' DOTS expr ']'    { $$ = expr_new(EXPR_INDEX_RANGE, @$); $$->left = $1; $$->third = $4; CLOSE($$); }
  | reference '[' ']'              { $$ = expr_new(EXPR_LIST_TYPE, @$); $$->left = $1; CLOSE($$); }
  | reference '(' record_fields ')' {
      $$ = expr_new(EXPR_CALL, @$); $$->left = $1; $$->items = $3->items; $$->names = $3->names; $$->places = $3->places; CLOSE($$); }
  | reference '(' opt_expressions ')' { $$ = expr_new(EXPR_CALL, @$); $$->left = $1; $$->items = $3; CLOSE($$); }
  ;
name_word: NAME | BOOL | BITS | STRING | TYPE | CLOCK | MODULE | STRUCT ;

other:
    primary
  | other '.' NAME                 { $$ = parse_text_expr(EXPR_FIELD, @$, $3); $$->left = $1; $$->place = @3; CLOSE($$); }
  | other '[' expr ']'             { $$ = expr_new(EXPR_INDEX, @$); $$->left = $1; $$->right = $3; CLOSE($$); }
  ;
primary:
    INTEGER | FLOAT | QUANTITY
  | TRUE_WORD                      { $$ = expr_new(EXPR_BOOL, @$); $$->integer = 1; }
  | FALSE_WORD                     { $$ = expr_new(EXPR_BOOL, @$); }
  | STRING_LITERAL                 { $$ = parse_text_expr(EXPR_STRING, @$, $1); }
  | TYPE_VARIABLE                  { $$ = parse_text_expr(EXPR_TYPE_VARIABLE, @$, $1); }
  | CODE_TEXT                      { $$ = parse_code(scan, @$, $1); }
  | '(' expr ')'                   { $$ = $2; }
  | '[' opt_expressions ']'        { $$ = expr_new(EXPR_LIST, @$); $$->items = $2; CLOSE($$); }
  | '[' expressions ',' ']'        { $$ = expr_new(EXPR_LIST, @$); $$->items = $2; CLOSE($$); }
  | '{' '}'                        { $$ = expr_new(EXPR_RECORD, @$); $$->items = arena_array(); $$->names = arena_array(); $$->places = arena_array(); }
  | '{' record_fields '}'          { $$ = $2; $$->location = @$; CLOSE($$); }
  | '{' record_fields ',' '}'      { $$ = $2; $$->location = @$; CLOSE($$); }
  ;
record_fields:
    NAME '=' expr                  {
      $$ = expr_new(EXPR_RECORD, @$); $$->items = arena_array(); $$->names = arena_array(); $$->places = arena_array();
      parse_record_add($$, $1, @1, $3); }
  | record_fields ',' NAME '=' expr { $$ = $1; parse_record_add($$, $3, @3, $5); }
  ;
opt_expressions: %empty { $$ = arena_array(); } | expressions ;
expressions:
    expr                           { $$ = parse_list($1); }
  | expressions ',' expr           { $$ = parse_with($1, $3); }
  ;

/* Types in declarations of the C kind, `type name;`: a name, a family's name with arguments, a type
   variable, and arrays of these. */
type_name:
    name_word                      { $$ = parse_text_expr(EXPR_NAME, @$, $1); $$->place = @1; }
  | name_word '(' opt_expressions ')' {
      $$ = expr_new(EXPR_CALL, @$); $$->left = parse_text_expr(EXPR_NAME, @1, $1); $$->left->place = @1; $$->items = $3; CLOSE($$); }
  | TYPE_VARIABLE                  { $$ = parse_text_expr(EXPR_TYPE_VARIABLE, @$, $1); }
  | type_name '[' expr ']'         { $$ = expr_new(EXPR_INDEX, @$); $$->left = $1; $$->right = $3; CLOSE($$); }
  ;
%%

static int yyreport_syntax_error(const yypcontext_t *context, Scan *scan, void *scanner) {
  (void)scanner;
  yysymbol_kind_t expected[YYNTOKENS];
  const char *names[YYNTOKENS];
  int count = yypcontext_expected_tokens(context, expected, YYNTOKENS);
  for (int i = 0; i < count; i++) names[i] = yysymbol_name(expected[i]);
  yysymbol_kind_t found = yypcontext_token(context);
  syntax_error(scan, *yypcontext_location(context), found == YYSYMBOL_YYEMPTY ? NULL : yysymbol_name(found), names, count);
  return 0;
}

static void yyerror(YYLTYPE *where, Scan *scan, void *scanner, const char *text) {
  (void)scanner;
  scan->errors++;
  // The only other cause is the bound on nesting.
  diag_error(*where, "syntax", "%s", strstr(text, "memory") ? "this is nested too deeply" : text);
}
