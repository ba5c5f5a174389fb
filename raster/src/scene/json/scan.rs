//! One light walk over the JSON that keeps nothing but its depth and the names of extensions in use.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json_error;
use crate::scene::error::SceneError;
use crate::scene::limits::{Limits, within};

/// What the walk found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Names of all members of objects called `extensions`, outside `extras`.
    pub extensions: BTreeSet<String>,
}

/// Most extension names kept; a file with more is refused.
const EXTENSION_NAMES: usize = 256;

/// Walks the JSON. *Errors*: JSON that does not parse or nests too deep.
pub(crate) fn scan(bytes: &[u8], limits: &Limits) -> Result<Scan, SceneError> {
    within("JSON nesting", "json_depth", depth(bytes), u64::from(limits.json_depth))?;
    let mut found = Scan::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    Walk { found: &mut found, place: Place::Object }.deserialize(&mut reader).map_err(json_error)?;
    reader.end().map_err(json_error)?;
    Ok(found)
}

/// Deepest nesting of brackets outside strings; what is not JSON is found later.
fn depth(bytes: &[u8]) -> u64 {
    let (mut now, mut deepest, mut in_string, mut escaped) = (0u64, 0u64, false, false);
    for &byte in bytes {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Object,
    Extensions,
}

struct Walk<'a> {
    found: &'a mut Scan,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if self.place == Place::Extensions && !self.found.extensions.contains(key.as_ref()) {
                if self.found.extensions.len() == EXTENSION_NAMES {
                    return Err(de::Error::custom("too many extensions"));
                }
                self.found.extensions.insert(key.to_string());
            }
            match key.as_ref() {
                "extras" if self.place == Place::Object => {
                    map.next_value::<IgnoredAny>()?;
                }
                name => {
                    let inside = self.place == Place::Object && name == "extensions";
                    let place = if inside { Place::Extensions } else { Place::Object };
                    map.next_value_seed(Walk { found: self.found, place })?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Walk { found: self.found, place: Place::Object })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
