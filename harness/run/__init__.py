"""Running simulators, whatever they simulate.

process starts commands and ends them with their parent; compiler calls lss; execute says where simulations run; store
keeps their results, lease tells whose working directories are abandoned; files writes whole files; progress says what
is going on; standard guards the standard streams of a command.
"""
