// The files that the editor has open, as it holds them; the compiler reads them in place of those on the disk.
#ifndef LSS_DOCUMENT_H
#define LSS_DOCUMENT_H

#include "lss/server/protocol.h"

typedef struct {
  char *uri;  // as the editor writes it
  char *path; // canonical; of a document that is no file, its URI below the working directory
  char *text;
  int version;
} Document;

// All of them, in no order.
GList *documents(void); // the caller frees the list
Document *document_at(const char *path);
Document *document_of(const char *uri);

Document *document_open(const char *uri, int version, const char *text);
// Applies one change, of a range or of everything; false when it is not as the protocol says.
bool document_change(Document *document, JsonValue *change);
void document_close(Document *document);
void documents_clear(void);

// A file's name in the protocol and in the compiler; the caller frees it.
char *path_uri(const char *path);
char *uri_path(const char *uri);

#endif
