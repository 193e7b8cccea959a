"""Studies of Linux: the guest that a point boots, and the job that it runs in one."""
