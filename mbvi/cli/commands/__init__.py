"""The commands, a file each: it adds its command to the application when it is imported."""
