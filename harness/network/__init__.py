"""Runs of networks whose parts are processes of their own."""
