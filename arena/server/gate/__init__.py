"""The gate that every call passes: tokens and keys, access, call limits, admission of matches."""
