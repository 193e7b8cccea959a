// The language server's messages: reads them, keeps the documents, hands questions to jobs; see server.h.
#include "lss/server/server.h"

#include "lss/base/version.h"
#include "lss/server/document.h"
#include "lss/server/job.h"
#include "lss/server/machines.h"
#include "lss/server/message.h"
#include "lss/server/responses.h"
#include "lss/server/workspace.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef enum { SERVER_NEW, SERVER_READY, SERVER_SHUT_DOWN } ServerState;

// A question that a job is at work on.
typedef struct {
  JsonValue *id;
  Query query;
  Job *job;
} Request;

static struct {
  GMainLoop *loop;
  ServerState state;
  MessageReader reader;
  const CompileOptions *options;
  GPtrArray *requests; // Request*
  int status;
} server;

static void request_free(gpointer data) {
  Request *request = data;
  if (request->job) job_cancel(request->job);
  json_object_put(request->id);
  g_free(request->query.path);
  g_free(request->query.name);
  g_free(request);
}

// ---- The protocol's life -------------------------------------------------------------------------------------------

static void set_flag(JsonValue *object, const char *key) {
  json_set(object, key, json_object_new_boolean(true));
}

static JsonValue *capabilities(void) {
  enum { SYNC_INCREMENTAL = 2 };
  JsonValue *result = json_object_new_object(), *sync = json_object_new_object();
  set_flag(sync, "openClose");
  json_set_number(sync, "change", SYNC_INCREMENTAL);
  set_flag(sync, "save");
  json_set(result, "textDocumentSync", sync);
  query_capabilities(result);
  return result;
}

static void initialize(JsonValue *id, JsonValue *params) {
  workspace_open(params);
  JsonValue *result = json_object_new_object(), *info = json_object_new_object();
  json_set_text(info, "name", "lss");
  json_set_text(info, "version", version_number);
  json_set(result, "capabilities", capabilities());
  json_set(result, "serverInfo", info);
  server.state = SERVER_READY;
  send_result(id, result);
}

static void shut_down(JsonValue *id, JsonValue *params) {
  (void)params;
  server.state = SERVER_SHUT_DOWN;
  send_result(id, NULL);
}

static void leave_server(JsonValue *id, JsonValue *params) {
  (void)id;
  (void)params;
  server.status = server.state == SERVER_SHUT_DOWN ? 0 : 1;
  g_main_loop_quit(server.loop);
}

static void ignore(JsonValue *id, JsonValue *params) {
  (void)id;
  (void)params;
}

// ---- Documents -----------------------------------------------------------------------------------------------------

static void did_open(JsonValue *id, JsonValue *params) {
  (void)id;
  JsonValue *item = json_at(params, "textDocument", NULL);
  const char *uri = json_text(json_at(item, "uri", NULL)), *text = json_text(json_at(item, "text", NULL));
  if (!uri || !text) return;
  const Document *document = document_open(uri, json_number(json_at(item, "version", NULL), 0), text);
  machines_opened(document->path);
}

// The open document that parameters name, or NULL.
static Document *named_document(JsonValue *params) {
  const char *uri = json_text(json_at(params, "textDocument", "uri", NULL));
  return uri ? document_of(uri) : NULL;
}

static void did_change(JsonValue *id, JsonValue *params) {
  (void)id;
  Document *document = named_document(params);
  JsonValue *changes = json_at(params, "contentChanges", NULL);
  if (!document || !json_object_is_type(changes, json_type_array)) return;
  for (size_t i = 0; i < json_object_array_length(changes); i++)
    document_change(document, json_object_array_get_idx(changes, i));
  document->version = json_number(json_at(params, "textDocument", "version", NULL), document->version);
  machines_changed(document->path);
}

// Saving changes what clang reads of modules, and whether a new file can be found.
static void did_save(JsonValue *id, JsonValue *params) {
  (void)id;
  const char *uri = json_text(json_at(params, "textDocument", "uri", NULL));
  if (!uri) return;
  g_autofree char *path = uri_path(uri);
  machines_changed(path);
}

static void did_close(JsonValue *id, JsonValue *params) {
  (void)id;
  Document *document = named_document(params);
  if (!document) return;
  g_autofree char *path = g_strdup(document->path);
  document_close(document);
  machines_closed(path);
}

// Files that changed on the disk, by other programs or under other editors.
static void files_changed(JsonValue *id, JsonValue *params) {
  (void)id;
  JsonValue *changes = json_at(params, "changes", NULL);
  if (!json_object_is_type(changes, json_type_array)) return;
  for (size_t i = 0; i < json_object_array_length(changes); i++) {
    const char *uri = json_text(json_at(json_object_array_get_idx(changes, i), "uri", NULL));
    if (!uri) continue;
    g_autofree char *path = uri_path(uri);
    machines_changed(path);
  }
}

// ---- Questions -----------------------------------------------------------------------------------------------------

static void show_warning(const char *text) {
  enum { MESSAGE_WARNING = 2 };
  JsonValue *params = json_object_new_object();
  json_set_number(params, "type", MESSAGE_WARNING);
  json_set_text(params, "message", text);
  send_notification("window/showMessage", params);
}

static void send_response(JsonValue *result, gpointer data) {
  Request *request = data;
  request->job = NULL;
  const char *error = json_text(json_at(result, "error", NULL)), *warning = json_text(json_at(result, "warning", NULL));
  if (warning) show_warning(warning);
  if (error)
    send_error(request->id, ERROR_REQUEST_FAILED, "%s", error);
  else if (result)
    send_result(request->id, json_object_get(json_at(result, "result", NULL)));
  else
    send_error(request->id, ERROR_INTERNAL, "the compiler ended without a result");
  g_ptr_array_remove(server.requests, request);
}

static void ask(JsonValue *id, const QueryKind *kind, JsonValue *params) {
  const Document *document = named_document(params);
  Query query = {.kind = kind, .options = server.options};
  if (!document) return send_error(id, ERROR_INVALID_PARAMS, "the document is not open");
  if (kind->positioned && !json_position(json_at(params, "position", NULL), &query.position))
    return send_error(id, ERROR_INVALID_PARAMS, "a position with line and character is needed");
  const char *name = json_text(json_at(params, "newName", NULL));
  if (kind->renames && !name) return send_error(id, ERROR_INVALID_PARAMS, "a new name is needed");
  query.declared = json_object_get_boolean(json_at(params, "context", "includeDeclaration", NULL));
  query.name = g_strdup(name);
  Request *request = g_new0(Request, 1);
  query.path = g_strdup(document->path);
  *request = (Request){.id = json_object_get(id), .query = query};
  request->job = job_start(query_work, &request->query, send_response, request);
  g_ptr_array_add(server.requests, request);
  if (request->job) return;
  send_error(id, ERROR_INTERNAL, "no process could be started");
  g_ptr_array_remove(server.requests, request);
}

static void cancel(JsonValue *id, JsonValue *params) {
  (void)id;
  JsonValue *wanted = json_at(params, "id", NULL);
  for (guint i = 0; wanted && i < server.requests->len; i++) {
    Request *request = server.requests->pdata[i];
    if (!json_object_equal(request->id, wanted)) continue;
    send_error(request->id, ERROR_CANCELLED, "cancelled");
    g_ptr_array_remove_index(server.requests, i);
    return;
  }
}

// ---- Dispatch ------------------------------------------------------------------------------------------------------

typedef struct {
  const char *name;
  bool request;
  void (*handle)(JsonValue *id, JsonValue *params);
} Method;

static const Method methods[] = {
    {"initialize", true, initialize},
    {"initialized", false, ignore},
    {"shutdown", true, shut_down},
    {"exit", false, leave_server},
    {"$/cancelRequest", false, cancel},
    {"textDocument/didOpen", false, did_open},
    {"textDocument/didChange", false, did_change},
    {"textDocument/didSave", false, did_save},
    {"textDocument/didClose", false, did_close},
    {"workspace/didChangeWatchedFiles", false, files_changed},
};

static const Method *method_called(const char *name) {
  for (gsize i = 0; i < G_N_ELEMENTS(methods); i++)
    if (!strcmp(methods[i].name, name)) return &methods[i];
  return NULL;
}

// Whether the state of the protocol allows the message; a request gets an error when it does not.
static bool is_allowed(const char *name, JsonValue *id) {
  if (!strcmp(name, "exit")) return true;
  const bool first = !strcmp(name, "initialize");
  if (server.state == SERVER_NEW && !first && id) send_error(id, ERROR_NOT_INITIALIZED, "`initialize` comes first");
  if (server.state != SERVER_NEW && first && id) send_error(id, ERROR_INVALID_REQUEST, "initialized already");
  if (server.state == SERVER_SHUT_DOWN && !first && id) send_error(id, ERROR_INVALID_REQUEST, "shut down already");
  return first ? server.state == SERVER_NEW : server.state == SERVER_READY;
}

static void dispatch(JsonValue *message) {
  JsonValue *id = json_at(message, "id", NULL), *params = json_at(message, "params", NULL);
  const char *name = json_text(json_at(message, "method", NULL));
  if (!name && (json_at(message, "result", NULL) || json_at(message, "error", NULL))) return; // nothing was asked
  if (!name) return send_error(id, ERROR_INVALID_REQUEST, "a message without a method");
  if (!is_allowed(name, id)) return;
  const Method *method = method_called(name);
  const QueryKind *kind = method ? NULL : query_kind(name);
  if (kind && id) return ask(id, kind, params);
  if (method && method->request == (id != NULL)) return method->handle(id, params);
  if (id)
    send_error(id, method ? ERROR_INVALID_REQUEST : ERROR_UNKNOWN_METHOD, "%s: %s", name,
               method ? "is no request" : "is not served");
}

static void take_messages(void) {
  char *body;
  const char *why;
  for (MessageState state; (state = message_next(&server.reader, &body, &why)) != MESSAGE_INCOMPLETE;) {
    if (state == MESSAGE_WRONG) {
      send_error(NULL, ERROR_PARSE, "%s", why);
      continue;
    }
    g_autofree char *text = body;
    g_autoptr(JsonValue) message = json_read(text, &why);
    if (message)
      dispatch(message);
    else
      send_error(NULL, ERROR_PARSE, "the message is no JSON: %s", why);
    if (!g_main_loop_is_running(server.loop)) return;
  }
}

static gboolean receive(gint handle, GIOCondition condition, gpointer data) {
  (void)condition;
  (void)data;
  char buffer[65536];
  const ssize_t got = read(handle, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return G_SOURCE_CONTINUE;
  if (got <= 0) {
    leave_server(NULL, NULL);
    return G_SOURCE_REMOVE;
  }
  message_feed(&server.reader, buffer, (gsize)got);
  take_messages();
  return G_SOURCE_CONTINUE;
}

int server_run(const CompileOptions *options, const GPtrArray *machines) {
  signal(SIGPIPE, SIG_IGN);
  server.loop = g_main_loop_new(NULL, FALSE);
  server.options = options;
  server.requests = g_ptr_array_new_with_free_func(request_free);
  machines_start(options);
  for (guint i = 0; i < machines->len; i++) machines_name(machines->pdata[i]);
  const guint input = g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, receive, NULL);
  g_main_loop_run(server.loop);
  if (g_main_context_find_source_by_id(NULL, input)) g_source_remove(input);
  g_ptr_array_unref(server.requests);
  machines_stop();
  documents_clear();
  workspace_clear();
  message_clear(&server.reader);
  g_main_loop_unref(server.loop);
  return server.status;
}
