"""What an engine reads of an arm, as types: `types` is made of those of the crate `plan`."""
