//! The variants of an enum of the plan, by the names that they have in JSON. They come from the
//! derived reader, so that no second list can fall behind.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// Names of the variants of `T`, in the order of their declaration; empty when `T` is not an enum
/// that JSON names by its variant.
pub fn variants<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut found: &[&str] = &[];
    // The reader always refuses: it only shows which variants it was asked for.
    let refused = T::deserialize(Asked(&mut found));
    debug_assert!(refused.is_err(), "nothing can be read from a list of variants");
    found
}

/// A reader that keeps the names that it is asked for.
struct Asked<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = variants;
        Err(Error::custom("the variants were asked for, not a value"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("not an enum"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RawDistribution, RawPlan};

    #[test]
    fn an_enum_names_its_variants_as_json_does_and_a_struct_none() {
        assert_eq!(&variants::<RawDistribution>()[..2], ["constant", "uniform"]);
        assert!(variants::<RawPlan>().is_empty());
    }
}
