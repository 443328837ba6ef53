"""Generated from proto/cardarena/games/v1 by scripts/proto: do not edit."""
