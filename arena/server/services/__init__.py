"""The gRPC services, and the pages of numbers beside them."""
