"""What a message must be before it is accepted, and what of it is worth reading. Pure."""
