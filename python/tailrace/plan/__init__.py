"""The input of an engine for an arm, as types: `types` is generated from those of the crate
`plan`."""
