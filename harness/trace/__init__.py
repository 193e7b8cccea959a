"""What a run recorded, for people and for existing viewers: profiles as tables, annotated source, flame graphs, and
files for callgrind's and pprof's viewers; the lives of frames; timelines for Perfetto.

A simulator writes a profile with its addresses already named (`--profile`, lss/runtime/trace/profile_write.c), so
nothing here reads executables.
"""
