"""Traffic, captures, sweeps and reports: everything around a simulator that is not the simulator.

A simulator is reached only through its command line and the JSON it writes, so any machine can be driven.
"""
