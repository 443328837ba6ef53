"""Who is let in: what every call passes, from its token to the limits on what may be open."""
