"""What can be looked through on this machine: files of any kind and size, databases; nothing is written."""
