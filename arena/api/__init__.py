"""The gRPC services, and the pages of metrics and status."""
