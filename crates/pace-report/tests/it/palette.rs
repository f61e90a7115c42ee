//! The colours: readable on their surface, and different for those who see red and green alike.

/// The style sheet, as every page has it.
const CSS: &str = include_str!("../../src/drawing.css");

type Rgb = [f64; 3];

/// The variables of one of the two themes.
fn theme(dark: bool) -> impl Fn(&str) -> Rgb {
    let (light, rest) = CSS.split_once("@media").unwrap();
    let theme = if dark { rest } else { light };
    move |name| {
        let value = theme.split(&format!("--{name}:#")).nth(1).unwrap_or_else(|| panic!("no {name}"));
        let digits: String = value.chars().take_while(char::is_ascii_hexdigit).collect();
        let digits = if digits.len() == 3 { digits.chars().flat_map(|c| [c, c]).collect() } else { digits };
        [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0)
    }
}

fn linear(colour: Rgb) -> Rgb {
    colour.map(|value| if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) })
}

/// The contrast of two colours, from 1 to 21 (WCAG 2.1).
fn contrast(one: Rgb, other: Rgb) -> f64 {
    let luminance = |colour: Rgb| {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
    };
    let (one, other) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

/// What somebody without green cones, or without red ones, sees (Machado, Oliveira and Fernandes, 2009).
const SIGHTS: [[Rgb; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
];

/// Oklab (Ottosson, 2020), in which distances are differences that people see.
fn oklab(colour: Rgb, sight: &[Rgb; 3]) -> Rgb {
    let times = |matrix: &[Rgb; 3], v: Rgb| [0, 1, 2].map(|row| (0..3).map(|i| matrix[row][i] * v[i]).sum::<f64>());
    let seen = times(sight, linear(colour)).map(|value| value.clamp(0.0, 1.0));
    let cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    let lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];
    times(&lab, times(&cones, seen).map(f64::cbrt))
}

fn difference(one: Rgb, other: Rgb, sight: &[Rgb; 3]) -> f64 {
    let (one, other) = (oklab(one, sight), oklab(other, sight));
    (0..3).map(|axis| (one[axis] - other[axis]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn colours_stand_out_from_their_surface() {
    for dark in [false, true] {
        let colour = theme(dark);
        for (name, least) in [("ink", 12.0), ("muted", 4.5)] {
            assert!(contrast(colour(name), colour("surface")) >= least, "{name}, dark {dark}");
            assert!(contrast(colour(name), colour("page")) >= least - 0.5, "{name}, dark {dark}");
        }
        for index in 0..8 {
            let found = contrast(colour(&format!("k{index}")), colour("surface"));
            assert!(found >= 3.0, "k{index}, dark {dark}: {found:.2}");
        }
    }
}

#[test]
fn hues_differ_for_everybody() {
    for dark in [false, true] {
        let colour = theme(dark);
        for sight in &SIGHTS {
            for one in 0..8 {
                for other in 0..one {
                    let found = difference(colour(&format!("k{one}")), colour(&format!("k{other}")), sight);
                    assert!(found > 0.09, "k{one} and k{other}, dark {dark}: {found:.3}");
                }
            }
        }
    }
}

#[test]
fn the_scale_of_scores_goes_one_way() {
    for dark in [false, true] {
        let colour = theme(dark);
        let lightness = |step: usize| oklab(colour(&format!("s{step}")), &SIGHTS[0])[0];
        for step in 1..9 {
            assert_eq!(lightness(step) > lightness(step - 1), dark, "step {step}");
        }
    }
}
