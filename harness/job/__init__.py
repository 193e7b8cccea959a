"""Jobs: a folder of files goes into a guest, and what the guest leaves comes out: `spinach job`, and `job` of a study.

archive says what the disk of jobs holds on either way; pack writes the folder there, unpack takes the results from it,
whatever a guest may have written; command runs one job from a checkpoint.
"""
