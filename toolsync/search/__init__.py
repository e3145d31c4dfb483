"""What can be looked through on this machine: files of any kind and size, and what databases hold; nothing is written."""
