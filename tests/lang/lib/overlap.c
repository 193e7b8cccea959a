// overlap.c: nothing, for netlists only.
