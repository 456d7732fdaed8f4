//! What an engine may not be able to tell.

use serde::{Deserialize, Deserializer};

/// Absent where the engine does not tell, and null where it tells that there is none.
pub type Nullable<T> = Option<Option<T>>;

/// Reads a member that is there: null is told too.
pub(crate) fn read_nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Nullable<T>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
