//! A number of processors, in thousandths, as containers count them: `2`, `0.5`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

const WHOLE: u32 = 1000;

/// As many processors as no machine has, so that every number that is accepted can be computed with.
const MAX: u32 = 1_000_000;

/// What control groups and container engines bound at least.
const MIN: u32 = WHOLE / 100;

/// How many processors a command may use, at least a hundredth of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "f64", into = "Written"))]
pub struct Processors(NonZeroU32);

const EXPECTED: &str =
    "expected a number of CPUs such as 2 or 0.5, from 0.01 on, with at most three decimal places";

impl Processors {
    /// The smallest number that needs no control group.
    pub const ONE: Self = Self(NonZeroU32::new(WHOLE).unwrap());

    /// What a signed package gets.
    pub const HALF: Self = Self(NonZeroU32::new(WHOLE / 2).unwrap());

    /// This many thousandths of one, unless it is less than a hundredth of a processor or more than a million of them.
    #[must_use]
    pub fn of_thousandths(thousandths: u32) -> Option<Self> {
        NonZeroU32::new(thousandths)
            .filter(|count| count.get() >= MIN && count.get() / WHOLE <= MAX)
            .map(Self)
    }

    /// How many thousandths of one.
    #[must_use]
    pub fn thousandths(self) -> u32 {
        self.0.get()
    }

    /// How many processors have to be there, at least one.
    #[must_use]
    pub fn rounded_up(self) -> u32 {
        self.thousandths().div_ceil(WHOLE)
    }

    /// Whether it is not a whole number, so that a processor is used for a part of the time.
    #[must_use]
    pub fn has_part(self) -> bool {
        !self.thousandths().is_multiple_of(WHOLE)
    }
}

impl FromStr for Processors {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_plain = is_number(whole) && is_number(part) && part.len() <= 3;
        let digits = is_plain.then(|| format!("{whole}{part:0<3}"));
        digits.and_then(|digits| digits.parse().ok()).and_then(Self::of_thousandths).ok_or(EXPECTED)
    }
}

impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.thousandths() / WHOLE, self.thousandths() % WHOLE);
        let digits = format!("{whole}.{part:03}");
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl TryFrom<f64> for Processors {
    type Error = &'static str;

    fn try_from(count: f64) -> Result<Self, &'static str> {
        count.to_string().parse()
    }
}

/// A whole number is written as one, so that who reads whole numbers only still reads it.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum Written {
    Whole(u32),
    Part(f64),
}

#[cfg(feature = "serde")]
impl From<Processors> for Written {
    fn from(count: Processors) -> Self {
        if count.has_part() {
            Self::Part(f64::from(count.thousandths()) / f64::from(WHOLE))
        } else {
            Self::Whole(count.rounded_up())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_printed_as_it_is_read() {
        for text in ["1", "2", "0.5", "1.25", "0.01", "0.125", "64"] {
            assert_eq!(text.parse::<Processors>().unwrap().to_string(), text);
        }
        let read = |text: &str| text.parse::<Processors>().map(Processors::thousandths);
        assert_eq!((read("0.50"), read("02"), read("1.0")), (Ok(500), Ok(2000), Ok(1000)));
        let odd = [
            "",
            "0",
            "0.0",
            "-1",
            "+1",
            "1.",
            ".5",
            "0.0001",
            "0.009",
            "4294967",
            "1e3",
            "NaN",
            "inf",
            "1,5",
            " 1",
            "99999999999",
        ];
        for text in odd {
            assert_eq!(read(text), Err(EXPECTED), "{text:?}");
        }
    }

    #[test]
    fn a_part_needs_a_whole_processor() {
        let rows = [(10, 1, true), (500, 1, true), (1000, 1, false), (1001, 2, true), (2000, 2, false)];
        for (thousandths, whole, has_part) in rows {
            let count = Processors::of_thousandths(thousandths).unwrap();
            assert_eq!((count.rounded_up(), count.has_part()), (whole, has_part), "{thousandths}");
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_keeps_the_number() {
        for (text, count) in [("2", Processors::of_thousandths(2000)), ("0.5", Some(Processors::HALF))] {
            let count = count.unwrap();
            assert_eq!(serde_json::to_string(&count).unwrap(), text);
            assert_eq!(serde_json::from_str::<Processors>(text).unwrap(), count);
        }
        assert_eq!(serde_json::from_str::<Processors>("1.0").unwrap(), Processors::ONE);
        for odd in ["0", "-1", "0.0001", "\"2\"", "1e300", "null", "true"] {
            assert!(serde_json::from_str::<Processors>(odd).is_err(), "{odd}");
        }
    }
}
