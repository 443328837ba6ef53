"""Generated from proto/cardarena/v1 by scripts/proto: do not edit."""
