"""Generated from proto/cardarena/games by scripts/proto: do not edit."""
