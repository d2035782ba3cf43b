use std::cmp::Ordering;
use std::fmt;

/// Significant digits DynamoDB keeps.
const MAX_DIGITS: u32 = 38;
/// Powers of ten of the leading digit that DynamoDB stores: 1E-130 up to 9.99E+125.
const LEADING: std::ops::RangeInclusive<i64> = -130..=125;

/// A DynamoDB number, exactly: `coefficient × 10^exponent`, never through a binary float.
///
/// Kept normal: no trailing zero in the coefficient, and zero has one spelling. Equality is therefore
/// numeric equality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    coefficient: u128,
    exponent: i64,
}

/// Why a text or a sum is not a DynamoDB number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotANumber {
    #[error("the parameter cannot be converted to a numeric value")]
    Text,
    #[error("the number needs more than 38 significant digits")]
    Digits,
    #[error("the number's magnitude is outside 1E-130 to 9.99E+125")]
    Magnitude,
}

impl Decimal {
    const ZERO: Self = Self { negative: false, coefficient: 0, exponent: 0 };

    /// Reads `[+-] digits [. digits] [e [+-] digits]`, at least one digit before the exponent.
    pub(crate) fn parse(text: &str) -> Result<Self, NotANumber> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i64>().map_err(|_| NotANumber::Text)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotANumber::Text);
        }
        let leading_cut = digits.trim_start_matches('0');
        let significant = leading_cut.trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self::ZERO);
        }
        if significant.len() > MAX_DIGITS as usize {
            return Err(NotANumber::Digits);
        }
        let coefficient = significant.parse::<u128>().map_err(|_| NotANumber::Digits)?;
        let dropped = length(leading_cut) - length(significant);
        let exponent = power.saturating_add(dropped).saturating_sub(length(fraction));
        Self { negative, coefficient, exponent }.in_range()
    }

    /// The exact sum.
    ///
    /// # Errors
    /// When the sum needs more than 38 digits. Whether the service rounds such a sum is not documented, so
    /// the twin does not guess.
    pub(crate) fn add(self, other: Self) -> Result<Self, NotANumber> {
        if self.coefficient == 0 {
            return Ok(other);
        }
        if other.coefficient == 0 {
            return Ok(self);
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        // `low` ends in a digit other than zero, so whatever does not fit here has too many digits anyway.
        let shift = u32::try_from(high.exponent - low.exponent).map_err(|_| NotANumber::Digits)?;
        let scale = 10_u128.checked_pow(shift).ok_or(NotANumber::Digits)?;
        let raised = high.coefficient.checked_mul(scale).ok_or(NotANumber::Digits)?;
        let (negative, coefficient) = if high.negative == low.negative {
            (high.negative, raised.checked_add(low.coefficient).ok_or(NotANumber::Digits)?)
        } else if raised >= low.coefficient {
            (high.negative, raised - low.coefficient)
        } else {
            (low.negative, low.coefficient - raised)
        };
        Self { negative, coefficient, exponent: low.exponent }.normal()
    }

    /// The exact difference; see [`add`](Self::add).
    pub(crate) fn subtract(self, other: Self) -> Result<Self, NotANumber> {
        self.add(Self { negative: !other.negative && other.coefficient != 0, ..other })
    }

    fn normal(mut self) -> Result<Self, NotANumber> {
        if self.coefficient == 0 {
            return Ok(Self::ZERO);
        }
        while self.coefficient.is_multiple_of(10) {
            self.coefficient /= 10;
            self.exponent += 1;
        }
        if self.coefficient.ilog10() >= MAX_DIGITS {
            return Err(NotANumber::Digits);
        }
        self.in_range()
    }

    fn in_range(self) -> Result<Self, NotANumber> {
        if LEADING.contains(&self.leading()) { Ok(self) } else { Err(NotANumber::Magnitude) }
    }

    /// The power of ten of the leading digit.
    fn leading(self) -> i64 {
        i64::from(self.coefficient.checked_ilog10().unwrap_or(0)).saturating_add(self.exponent)
    }

    fn magnitude_cmp(self, other: Self) -> Ordering {
        // 38 digits fit in 128 bits, so both coefficients can be widened to the same number of digits.
        let widened = |number: Self| {
            let digits = number.coefficient.checked_ilog10().unwrap_or(0) + 1;
            number.coefficient * 10_u128.pow(MAX_DIGITS.saturating_sub(digits))
        };
        self.leading().cmp(&other.leading()).then_with(|| widened(self).cmp(&widened(other)))
    }

    fn signum(self) -> i8 {
        match (self.coefficient, self.negative) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.signum().cmp(&other.signum()).then_with(|| match self.signum() {
            0 => Ordering::Equal,
            1 => self.magnitude_cmp(*other),
            _ => other.magnitude_cmp(*self),
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The spelling DynamoDB answers: all digits, no exponent, no trailing zero of a fraction.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.coefficient.to_string();
        let sign = if self.negative { "-" } else { "" };
        let Ok(point) = usize::try_from(length(&digits).saturating_add(self.exponent)) else {
            let zeros = usize::try_from(-(length(&digits) + self.exponent)).unwrap_or(0);
            return write!(f, "{sign}0.{}{digits}", "0".repeat(zeros));
        };
        match digits.split_at_checked(point) {
            None | Some((_, "")) => write!(f, "{sign}{digits}{}", "0".repeat(point - digits.len())),
            Some(("", fraction)) => write!(f, "{sign}0.{fraction}"),
            Some((whole, fraction)) => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn one_number_has_one_spelling() {
        for (text, spelling) in [
            ("0", "0"),
            ("-0.00", "0"),
            ("007", "7"),
            ("+1.50", "1.5"),
            ("1e2", "100"),
            ("5.", "5"),
            (".5", "0.5"),
            ("-12.5E-3", "-0.0125"),
            ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ] {
            assert_eq!(number(text).to_string(), spelling, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in ["", "-", ".", "e5", "1e", "1_000", " 1", "1 ", "NaN", "1.2.3", "++5", "0x1"] {
            assert_eq!(Decimal::parse(text), Err(NotANumber::Text), "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(39)), Err(NotANumber::Digits));
        assert_eq!(Decimal::parse("1e126"), Err(NotANumber::Magnitude));
        assert_eq!(Decimal::parse("1e-131"), Err(NotANumber::Magnitude));
        assert_eq!(Decimal::parse("1e9223372036854775807"), Err(NotANumber::Magnitude));
    }

    #[test]
    fn the_limits_hold_and_sums_are_exact_there() {
        assert_eq!(number("9E125").add(number("1E125")), Err(NotANumber::Magnitude));
        assert!(Decimal::parse(&format!("{}E88", "9".repeat(38))).is_ok());
        assert_eq!(number("1e125").add(number("1e-130")), Err(NotANumber::Digits));
        let nines = number(&"9".repeat(38));
        assert_eq!(nines.add(number("1")).unwrap().to_string(), format!("1{}", "0".repeat(38)));
        assert_eq!(nines.add(number("0.1")), Err(NotANumber::Digits));
        assert_eq!(number("0.1").add(number("0.2")).unwrap().to_string(), "0.3");
        assert_eq!(number("1e125").subtract(number("1e125")).unwrap(), Decimal::ZERO);
    }

    proptest! {
        #[test]
        fn agrees_with_integers(a in -(10_i128.pow(37))..10_i128.pow(37), b in -(10_i128.pow(37))..10_i128.pow(37)) {
            let (x, y) = (number(&a.to_string()), number(&b.to_string()));
            prop_assert_eq!(x.to_string(), a.to_string());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.add(y).unwrap().to_string(), (a + b).to_string());
            prop_assert_eq!(x.subtract(y).unwrap().to_string(), (a - b).to_string());
        }

        #[test]
        fn scaling_changes_neither_order_nor_sum(a: i32, b: i32, power in -100_i32..100) {
            let (x, y) = (number(&format!("{a}e{power}")), number(&format!("{b}e{power}")));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.add(y).unwrap(), number(&format!("{}e{power}", i64::from(a) + i64::from(b))));
        }

        #[test]
        fn mixed_scales_add_like_integers(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000, scale in 0_u32..8) {
            let small = number(&format!("{b}e-{scale}"));
            let expected = i128::from(a) * 10_i128.pow(scale) + i128::from(b);
            prop_assert_eq!(number(&a.to_string()).add(small).unwrap(), number(&format!("{expected}e-{scale}")));
        }

        #[test]
        fn never_panics_and_round_trips(text in "[-+0-9.eE]{0,60}|\\PC{0,20}") {
            if let Ok(parsed) = Decimal::parse(&text) {
                prop_assert_eq!(Decimal::parse(&parsed.to_string()), Ok(parsed));
            }
        }
    }
}
