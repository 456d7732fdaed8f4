"""What an engine writes of a trial, as types: `types` is made of those of the crate `outcome`."""
