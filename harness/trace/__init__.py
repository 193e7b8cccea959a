"""What a run recorded, for people and for existing viewers: profiles as tables, annotated source, flame graphs, and
files for callgrind's and pprof's viewers.

A simulator writes a profile with its addresses already named (`--profile`, lss/runtime/trace/profile_write.c), so
nothing here reads executables.
"""
