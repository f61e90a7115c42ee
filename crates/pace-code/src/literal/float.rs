//! Floating-point numbers: the shortest digits that read back to the same number, laid out as Python does.

use std::fmt::Write;

/// Appends the `repr` of a float, e.g. `1.0`, `1e-05`, `1e+16`.
pub(crate) fn push_float(text: &mut String, value: f64) {
    if push_shortest(text, value) == Layout::Integral {
        text.push_str(".0");
    }
}

/// Appends the `repr` of a complex number without real part, e.g. `1j`, `2.5j`.
pub(crate) fn push_imaginary(text: &mut String, value: f64) {
    push_shortest(text, value);
    text.push('j');
}

/// How a number was written.
#[derive(PartialEq, Eq)]
enum Layout {
    /// Digits only.
    Integral,
    /// With a point, an exponent, or as `inf`.
    Other,
}

fn push_shortest(text: &mut String, value: f64) -> Layout {
    if !value.is_finite() {
        text.push_str("inf");
        return Layout::Other;
    }
    // Rust and Python find the same digits, but place the point differently.
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let zeros = |n: usize| std::iter::repeat_n('0', n);
    match exponent {
        -4..0 => {
            text.push_str("0.");
            text.extend(zeros(exponent.unsigned_abs() as usize - 1));
            text.push_str(first);
            text.push_str(rest);
            Layout::Other
        }
        0..16 => {
            let n_whole = exponent as usize;
            text.push_str(first);
            match rest.split_at_checked(n_whole).filter(|(_, fraction)| !fraction.is_empty()) {
                Some((whole, fraction)) => {
                    text.push_str(whole);
                    text.push('.');
                    text.push_str(fraction);
                    Layout::Other
                }
                None => {
                    text.push_str(rest);
                    text.extend(zeros(n_whole - rest.len()));
                    Layout::Integral
                }
            }
        }
        _ => {
            text.push_str(mantissa);
            let sign = if exponent < 0 { '-' } else { '+' };
            // Writing to a string cannot fail.
            let _ = write!(text, "e{sign}{:02}", exponent.unsigned_abs());
            Layout::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_python_prints_them() {
        let cases = [
            (0.0, "0.0", "0j"),
            (1.0, "1.0", "1j"),
            (100.0, "100.0", "100j"),
            (1.5, "1.5", "1.5j"),
            (123.456, "123.456", "123.456j"),
            (0.1, "0.1", "0.1j"),
            (0.0001, "0.0001", "0.0001j"),
            (0.00012, "0.00012", "0.00012j"),
            (0.00001, "1e-05", "1e-05j"),
            (1.25e-7, "1.25e-07", "1.25e-07j"),
            (1e15, "1000000000000000.0", "1000000000000000j"),
            (1e16, "1e+16", "1e+16j"),
            (1234567890123456.0, "1234567890123456.0", "1234567890123456j"),
            (12345678901234568.0, "1.2345678901234568e+16", "1.2345678901234568e+16j"),
            (5e-324, "5e-324", "5e-324j"),
            (f64::MAX, "1.7976931348623157e+308", "1.7976931348623157e+308j"),
            (f64::INFINITY, "inf", "infj"),
        ];
        for (value, float, imaginary) in cases {
            let (mut one, mut other) = (String::new(), String::new());
            push_float(&mut one, value);
            push_imaginary(&mut other, value);
            assert_eq!((&*one, &*other), (float, imaginary));
        }
    }
}
