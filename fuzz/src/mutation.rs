//! Mutations that keep JSON valid. libFuzzer's own mutations of bytes break it almost always, so that what lies behind the
//! parser would see little.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// A mutated input: one value of the JSON in it is replaced, removed or doubled. The JSON is the whole input, all but its
/// first byte, the header of a safetensors file, or one of the lines. `None` if there is none.
pub fn json(input: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed.into());
    if let Ok(value) = serde_json::from_slice(input) {
        return Some(mutated(value, &mut rng).to_string().into_bytes());
    }
    if let Some((&first, rest)) = input.split_first()
        && let Ok(value) = serde_json::from_slice(rest)
    {
        return Some([&[first], mutated(value, &mut rng).to_string().as_bytes()].concat());
    }
    if let Some((header, data)) = safetensors(input) {
        let header = mutated(header, &mut rng).to_string();
        return Some([&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat());
    }
    let mut lines: Vec<Vec<u8>> = input.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = rng.random_range(0..lines.len());
    let value = serde_json::from_slice(&lines[at]).ok()?;
    lines[at] = mutated(value, &mut rng).to_string().into_bytes();
    Some(lines.join(&b'\n'))
}

/// The header of a safetensors file and what follows it.
fn safetensors(input: &[u8]) -> Option<(Value, &[u8])> {
    let (length, rest) = input.split_first_chunk::<8>()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((serde_json::from_slice(header).ok()?, data))
}

fn mutated(mut root: Value, rng: &mut ChaCha8Rng) -> Value {
    let n_values = count(&root);
    let other = nth(&mut root, &mut rng.random_range(0..n_values)).map_or(Value::Null, |value| value.clone());
    let Some(value) = nth(&mut root, &mut rng.random_range(0..n_values)) else { return root };
    match rng.random_range(0..5) {
        0 => *value = hostile().choose(rng).cloned().unwrap_or_default(),
        1 => *value = other,
        2 => shorten(value, rng),
        3 => lengthen(value, rng),
        _ => nudge(value, rng),
    }
    root
}

/// Values at the edges of what readers expect.
fn hostile() -> Vec<Value> {
    let numbers = [0, 1, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX];
    let floats = [-1.0, 0.5, -0.0, 1e-320, 1e38, 1e39, 1e308, -1e308];
    let texts = ["", "é", "0 1 : 0>1", "0 1 : 0>1 1>0", "NaN", "\u{0}", "../..", "random"];
    let mut values = vec![Value::Null, json!(true), json!([]), json!({}), json!([[]]), json!([0, 0]), json!(i64::MIN)];
    values.extend(numbers.map(|number| json!(number)));
    values.extend(floats.map(|number| json!(number)));
    values.extend(texts.map(|text| json!(text)));
    values
}

fn shorten(value: &mut Value, rng: &mut ChaCha8Rng) {
    match value {
        Value::Array(items) if !items.is_empty() => drop(items.remove(rng.random_range(0..items.len()))),
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(rng.random_range(0..fields.len())).cloned().unwrap_or_default();
            fields.remove(&key);
        }
        Value::String(text) => drop(text.pop()),
        other => *other = Value::Null,
    }
}

fn lengthen(value: &mut Value, rng: &mut ChaCha8Rng) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let item = items[rng.random_range(0..items.len())].clone();
            items.insert(rng.random_range(0..=items.len()), item);
        }
        Value::String(text) => {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            text.insert(
                *places.choose(rng).unwrap_or(&0),
                *['é', '0', ' ', '>', '\n', '\u{feff}'].choose(rng).unwrap_or(&'x'),
            );
        }
        other => *other = json!([other.clone()]),
    }
}

fn nudge(value: &mut Value, rng: &mut ChaCha8Rng) {
    if let Some(number) = value.as_u64() {
        *value = match rng.random_range(0..4) {
            0 => json!(number.wrapping_add(1)),
            1 => json!(number.wrapping_sub(1)),
            2 => json!(number.wrapping_mul(1 << rng.random_range(0..63))),
            _ => json!(rng.random_range(0..20)),
        };
    } else if let Some(number) = value.as_f64() {
        *value = json!(number * 10_f64.powi(rng.random_range(-400..400)));
    }
}

fn count(value: &Value) -> usize {
    1 + children(value).map(count).sum::<usize>()
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// The value with this number, in the order of the text; counts down on its way.
fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}
