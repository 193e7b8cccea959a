"""Studies: what is varied of a machine, what is measured, and the pages that show it.

study, mainjob and report are `make run`; plan, campaign, examine, exhibits and validation are `make studies`.
"""
