//! Names in a listing: which function is hot, and which call may stand in its loops.

/// The CPU level that a hot function is compiled for: the last segment of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// AVX2 and fused multiply-add: 8 numbers in a ymm register.
    V3,
    /// AVX-512: 16 numbers in a zmm register.
    V4,
    /// The vectors of every 64-bit ARM: 4 numbers.
    Neon,
}

impl Level {
    /// All of them.
    const ALL: [Level; 3] = [Level::V3, Level::V4, Level::Neon];

    /// The function's name at this level.
    pub fn name(self) -> &'static str {
        match self {
            Level::V3 => "v3",
            Level::V4 => "v4",
            Level::Neon => "neon",
        }
    }

    /// How an instruction names the full width of this level.
    pub fn width(self) -> &'static str {
        match self {
            Level::V3 => "%ymm",
            Level::V4 => "%zmm",
            Level::Neon => ".4s",
        }
    }
}

/// Where the hot functions live.
const KERNEL: &str = "pace_model::kernel::";

/// The path below the kernels and the level, if `path` is that of a hot function.
pub fn hot(path: &str) -> Option<(&str, Level)> {
    let (function, last) = path.strip_prefix(KERNEL)?.rsplit_once("::")?;
    Level::ALL.into_iter().find(|level| level.name() == last).map(|level| (function, level))
}

/// The path of a demangled symbol: no hash, no generic arguments, no suffix of LLVM; of `<A as B>::c` it is `A::c`.
///
/// So both manglings of Rust give the same path.
pub fn path(symbol: &str) -> String {
    let symbol = [" (.", " [clone", ".llvm."].iter().fold(symbol, |rest, mark| rest.split(mark).next().unwrap_or(rest));
    let mut plain = String::new();
    let mut rest = symbol;
    if let Some((inside, after)) = bracketed(symbol) {
        plain = path(before_as(inside));
        rest = after;
    }
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = bracketed(&rest[at..]).map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let segments = plain.split("::").map(|segment| match segment.split_once('[') {
        Some((name, _)) if !name.is_empty() => name,
        _ => segment,
    });
    segments.filter(|segment| !segment.is_empty() && !is_hash(segment)).collect::<Vec<_>>().join("::")
}

/// What stands inside the angle brackets that open `text`, and what follows them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            // The arrow of a function's type is no bracket.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text[..at].strip_prefix('<').map(|inside| (inside, &text[at + 1..]));
        }
        before = c;
    }
    None
}

/// `A` of `A as B`, also if A itself contains an `as` in brackets.
fn before_as(text: &str) -> &str {
    let is_outside =
        |at: &usize| text[..*at].matches('<').count() == text[..*at].replace("->", "").matches('>').count();
    text.match_indices(" as ").map(|(at, _)| at).find(is_outside).map_or(text, |at| &text[..at])
}

/// The last segment of the older mangling: `h` and 16 hexadecimal digits.
fn is_hash(segment: &str) -> bool {
    segment.len() == 17 && segment.starts_with('h') && segment[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Library functions that a loop may call.
///
/// Most move memory. The logarithms are those of the likelihood: one per row or pair of rows, little beside the row.
const HARMLESS: [&str; 7] = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "logf", "log1pf"];
/// Allocation and what runs once.
const HARMLESS_BELOW: [&str; 5] = ["alloc::", "__rust", "core::ptr::drop_in_place", "std::sync::once", "std::alloc::"];
/// How functions end that never return: panics, failed bounds checks, failed allocations.
const DIVERGING: [&str; 6] =
    ["_fail", "_failed", "handle_error", "handle_alloc_error", "capacity_overflow", "_Unwind_Resume"];

/// Whether a call of `path` never comes back.
pub fn diverges(path: &str) -> bool {
    path.contains("panic") || DIVERGING.iter().any(|end| path.ends_with(end))
}

/// Whether a call of `path` in a loop hides work: it is neither a hot function nor in the lists above.
///
/// Such a function is compiled for the least CPU, whatever its caller is compiled for. The worst are `fmaf` and intrinsics
/// that were not inlined.
pub fn hides_work(path: &str) -> bool {
    let harmless = HARMLESS.contains(&path) || HARMLESS_BELOW.iter().any(|start| path.starts_with(start));
    !harmless && !diverges(path) && hot(path).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_manglings_give_one_path() {
        let plain = "pace_model::kernel::fused::panels::product::v4";
        for symbol in [
            plain,
            "pace_model::kernel::fused::panels::product::v4::h0123456789abcdef",
            "pace_model::kernel::fused::panels::product::v4::<8>",
            "pace_model[5f1b]::kernel::fused::panels::product::v4",
            "pace_model::kernel::fused::panels::product::<fn(A<B>) -> C, D>::v4 (.llvm.123)",
            "<pace_model::kernel::fused::panels>::product::v4",
            "<pace_model::kernel::fused::panels as core::ops::Fn<(A,)>>::product::v4",
        ] {
            assert_eq!(path(symbol), plain, "{symbol}");
        }
        assert_eq!(path("<alloc::vec::Vec<<A as B>::C> as D>::extend"), "alloc::vec::Vec::extend");
        assert_eq!(path("alloc::raw_vec::RawVecInner<A>::reserve"), "alloc::raw_vec::RawVecInner::reserve");
        assert_eq!(path("memcpy"), "memcpy");
        assert_eq!(path("<broken"), "");
    }

    #[test]
    fn hot_functions() {
        assert_eq!(hot("pace_model::kernel::fused::adam::update::v3"), Some(("fused::adam::update", Level::V3)));
        assert_eq!(hot("pace_model::kernel::adam::neon"), Some(("adam", Level::Neon)));
        for other in ["pace_model::kernel::adam::update", "pace_model::table::v3", "other::kernel::a::v3", "v3"] {
            assert_eq!(hot(other), None, "{other}");
        }
    }

    #[test]
    fn calls_that_hide_work() {
        for callee in [
            "fmaf",
            "expf",
            "pace_model::kernel::fused::panels::body",
            "core::core_arch::x86::avx512f::_mm512_fmadd_ps",
        ] {
            assert!(hides_work(callee), "{callee}");
        }
        for callee in [
            "memset",
            "pace_model::kernel::fused::heads::softmax::v4",
            "core::slice::index::slice_index_fail",
            "core::panicking::panic_bounds_check",
            "alloc::raw_vec::RawVecInner::reserve::do_reserve_and_handle",
            "__rustc::__rust_alloc_zeroed",
        ] {
            assert!(!hides_work(callee), "{callee}");
        }
    }
}
