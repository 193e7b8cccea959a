"""Studies: what is varied of a machine, what is measured, and the pages that show it; docs/studies.md explains them.

A study goes through these in their order:
    study_file   reads the TOML file and checks its keys
    points       variants times axes: every point with all its settings
    uses/        plug-ins: what NICs need, and second looks
    machine      netlists, what they know by name, simulators, the command line of a point
    names        checks every name in the study with them; conditions those of windows
    windows      between which instants a simulator measures
    intervals    times between two events, which collectors in the simulators count
    runner       builds, runs, measures, keeps the best; expression and reading say what was measured
    printed      what consoles printed; loaded_modules: where a guest loaded its kernel modules
    look         second looks at points: bottlenecks, costs, faults
    jobs         files that go into the guest of a point, and those that it leaves
    outputs      tables for a terminal, CSV, JSON, the command that repeats a point
    headline     results within the first sentence of a page, and on its cards; words: how pages say values and places
    figures, tables, page (study.html)               the page of one study
    collection, validation (validation.html)         several studies, and the report that a text asks of them
command is what the command line calls.
"""

# What a study writes in the folder of its page; `*` is any text.
WRITTEN = (
    "index.html", "results.csv", "results.json", "provenance.json", "figure-*", "diagram-*/*", "point-*.pcap", "jobs/*",
    "intervals-*.csv",
)  # fmt: skip
