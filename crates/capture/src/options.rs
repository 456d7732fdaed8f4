//! Options of a profile.

use crate::anonymise::Key;
use crate::error::CaptureError;
use serde::Deserialize;

/// Flows that a table can have at most: one has about 400 bytes.
const FLOWS_MAX: usize = 16_000_000;
/// Rows of each table at most.
const ROWS_MAX: usize = 100_000_000;

/// Options of a profile.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Speed of the line; none: that of the first interface, if the capture names it.
    pub line_bps: Option<u64>,
    /// Only frames from this time on after the first frame.
    pub from_ns: u64,
    /// Only frames before this time after the first frame.
    pub until_ns: Option<u64>,
    /// Rows of each table; further ones are counted.
    pub rows_max: usize,
    /// Flows that are followed at once; the oldest make room.
    pub flows_max: usize,
    /// Key of anonymous addresses, 32 hexadecimal digits; none: addresses as they are.
    pub key_hex: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            line_bps: None,
            from_ns: 0,
            until_ns: None,
            rows_max: 200_000,
            flows_max: 1_000_000,
            key_hex: None,
        }
    }
}

impl Options {
    /// Options from their JSON.
    ///
    /// # Errors
    /// When one is unknown or out of its range.
    pub fn parse(json: &str) -> Result<Options, CaptureError> {
        let options: Options =
            serde_json::from_str(json).map_err(|error| CaptureError::Options(error.to_string()))?;
        let refuse = |what: &str| Err(CaptureError::Options(what.into()));
        if options.flows_max == 0 || options.flows_max > FLOWS_MAX {
            return refuse("`flows_max` must be from 1 to 16000000");
        }
        if options.rows_max > ROWS_MAX {
            return refuse("`rows_max` must be at most 100000000");
        }
        if options.line_bps == Some(0) {
            return refuse("`line_bps` must be greater than zero");
        }
        if options.until_ns.is_some_and(|until_ns| until_ns <= options.from_ns) {
            return refuse("`until_ns` must be greater than `from_ns`");
        }
        options.key()?;
        Ok(options)
    }

    /// The key of anonymous addresses.
    ///
    /// # Errors
    /// When it is not of 32 hexadecimal digits.
    pub fn key(&self) -> Result<Option<Key>, CaptureError> {
        let Some(text) = &self.key_hex else { return Ok(None) };
        Key::parse(text)
            .map(Some)
            .ok_or_else(|| CaptureError::Options("the key must have 32 hexadecimal digits".into()))
    }
}
