//! Nothing but tests: both engines carry the same frames over the same network, and must do the
//! same with them. The engines do not know each other, so the comparison has a crate of its own.
