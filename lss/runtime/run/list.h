// What a simulator's command line can name, for tools that check names before the first run.
//
//   {"machine", "clocks":     [{"name", "hertz": "numerator/denominator"}],
//    "parameters": [{"name", "aliases", "type", "default", "description"}],
//    "statistics": [{"path", "name", "unit", "difference", "description"}],   as in document.h
//    "derived":    [{"path", "name", "unit", "derived", "description"}],      likewise
//    "events":     [{"path", "name", "arguments", "description"}]}
#ifndef SPINACH_LIST_H
#define SPINACH_LIST_H

// The caller frees it.
char *spinach_list_json(void);

#endif
