"""One module for each change of the schema, numbered; they are never edited afterwards."""
