"""Running simulators, whatever they simulate: processes, the store of results, files written whole, progress.

sweep runs many simulations and keeps their results; files writes whole files; progress says what is going on.
"""
