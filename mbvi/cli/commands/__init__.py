"""The commands: each file has one, a function or a group of commands of the file's name."""
