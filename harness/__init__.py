"""Traffic, captures, sweeps and reports: everything around a simulator that is not the simulator.

A simulator is reached only through its command line and the JSON it writes, so any machine can be driven.  The
folders build on each other in this order: run, net, report, bottleneck, study, watch; none imports from a later one.
"""
