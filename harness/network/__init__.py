"""Runs of networks whose parts are processes of their own: they are started, watched and ended together, and
what they have counted becomes one document."""
