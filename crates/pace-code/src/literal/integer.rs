//! Integers of any base and size, in decimal.

use std::fmt::Write;

use ruff_python_ast::Int;

/// CPython prints and reads no longer integers (`sys.int_info.default_max_str_digits`).
pub(crate) const MAX_DIGITS: usize = 4300;
/// No number of more bits has as few digits: log2(10) < 3.322.
const MAX_BITS: usize = MAX_DIGITS * 3322 / 1000 + 1;

/// An integer longer than [`MAX_DIGITS`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyDigits;

/// Appends an integer literal in decimal.
pub(crate) fn push_integer(text: &mut String, value: &Int) -> Result<(), TooManyDigits> {
    match value.as_u64() {
        Some(small) => {
            // Writing to a string cannot fail.
            let _ = write!(text, "{small}");
            Ok(())
        }
        // What does not fit is kept as it stands in the source.
        None => push_big(text, &value.to_string()),
    }
}

fn push_big(text: &mut String, literal: &str) -> Result<(), TooManyDigits> {
    let n_bits = match literal.as_bytes() {
        [b'0', b'x' | b'X', ..] => 4,
        [b'0', b'o' | b'O', ..] => 3,
        [b'0', b'b' | b'B', ..] => 1,
        _ => {
            let digits = literal.bytes().filter(u8::is_ascii_digit).skip_while(|&digit| digit == b'0');
            if digits.clone().count() > MAX_DIGITS {
                return Err(TooManyDigits);
            }
            text.extend(digits.map(char::from));
            return Ok(());
        }
    };
    let digits = literal[2..].chars().filter_map(|digit| digit.to_digit(1 << n_bits)).skip_while(|&digit| digit == 0);
    // The first digit may have up to three leading zero bits.
    if digits.clone().count() * n_bits > MAX_BITS + 3 {
        return Err(TooManyDigits);
    }
    push_decimal(text, digits, n_bits)
}

/// Converts digits of `n_bits` each by Horner's rule, on limbs of nine decimal digits. Quadratic, for few digits.
fn push_decimal(text: &mut String, digits: impl Iterator<Item = u32>, n_bits: usize) -> Result<(), TooManyDigits> {
    const LIMB: u64 = 1_000_000_000;
    let mut limbs: Vec<u64> = vec![0];
    for digit in digits {
        let mut carry = u64::from(digit);
        for limb in &mut limbs {
            let value = (*limb << n_bits) + carry;
            (*limb, carry) = (value % LIMB, value / LIMB);
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let start = text.len();
    let (highest, lower) = limbs.split_last().expect("there is always one limb");
    // Writing to a string cannot fail.
    let _ = write!(text, "{highest}");
    for limb in lower.iter().rev() {
        let _ = write!(text, "{limb:09}");
    }
    if text.len() - start > MAX_DIGITS { Err(TooManyDigits) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(literal: &str) -> Result<String, TooManyDigits> {
        let mut text = String::new();
        push_big(&mut text, literal).map(|()| text)
    }

    #[test]
    fn every_base() {
        let decimal = "340282366920938463463374607431768211456";
        assert_eq!(printed(&format!("0x1{}", "0".repeat(32))).unwrap(), decimal);
        assert_eq!(printed(&format!("0X1_{}", "0000_".repeat(7) + "0000")).unwrap(), decimal);
        assert_eq!(printed(&format!("0b1{}", "0".repeat(128))).unwrap(), decimal);
        assert_eq!(printed(&format!("0o4{}", "0".repeat(42))).unwrap(), decimal);
        assert_eq!(printed(decimal).unwrap(), decimal);
    }

    #[test]
    fn the_limit_is_that_of_cpython() {
        assert!(printed(&"9".repeat(MAX_DIGITS)).is_ok());
        assert_eq!(printed(&"9".repeat(MAX_DIGITS + 1)), Err(TooManyDigits));
        assert!(printed(&format!("0x{}", "f".repeat(3571))).is_ok());
        assert_eq!(printed(&format!("0x{}", "f".repeat(3572))), Err(TooManyDigits));
        assert_eq!(printed(&format!("0x{}", "f".repeat(1_000_000))), Err(TooManyDigits));
    }
}
