"""Convert values of the rules to protobuf bytes and back."""
