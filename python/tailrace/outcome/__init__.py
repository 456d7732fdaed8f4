"""The output of an engine for a trial, as types: `types` is generated from those of the crate
`outcome`."""
