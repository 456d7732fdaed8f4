//! Words of a command line.

use std::path::PathBuf;
use std::str::FromStr;

/// Words that were not read yet.
#[derive(Clone, Debug)]
pub struct Words {
    words: std::vec::IntoIter<String>,
    /// The option whose value is read.
    option: String,
}

impl Words {
    /// All of them.
    pub fn new(words: impl Iterator<Item = String>) -> Words {
        Words { words: words.collect::<Vec<_>>().into_iter(), option: String::new() }
    }

    /// The value behind the option that was read last.
    ///
    /// # Errors
    /// When it is missing or cannot be read.
    pub fn value<T: FromStr>(&mut self) -> Result<T, String> {
        let option = &self.option;
        let word = self.words.next().ok_or_else(|| format!("{option}: a value is missing"))?;
        word.parse().map_err(|_| format!("{option}: {word:?} is not a valid value"))
    }

    /// The same for a path.
    ///
    /// # Errors
    /// When it is missing.
    pub fn path(&mut self) -> Result<PathBuf, String> {
        self.value::<String>().map(PathBuf::from)
    }

    /// All other words.
    pub fn rest(self) -> Vec<String> {
        self.words.collect()
    }
}

impl Iterator for Words {
    type Item = String;

    /// The next word, if there is one.
    fn next(&mut self) -> Option<String> {
        let word = self.words.next()?;
        self.option.clone_from(&word);
        Some(word)
    }
}

/// An option that must be there.
///
/// # Errors
/// When it is not.
pub fn required<T>(value: Option<T>, option: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("{option} is missing"))
}

/// A word that no command knows.
///
/// # Errors
/// Always.
pub fn unknown<T>(word: &str) -> Result<T, String> {
    Err(format!("unknown argument {word:?} (hint: see `tailrace-fabric help`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_behind_its_option() {
        let mut words =
            Words::new(["--port", "80", "--rate", "fast", "--end"].map(str::to_owned).into_iter());
        assert_eq!(words.next().as_deref(), Some("--port"));
        assert_eq!(words.value::<u16>(), Ok(80));
        words.next();
        assert_eq!(words.value::<u64>(), Err("--rate: \"fast\" is not a valid value".into()));
        words.next();
        assert_eq!(words.path(), Err("--end: a value is missing".into()));
    }
}
