"""What command lines and targets are for, and which of them a newcomer would type."""
