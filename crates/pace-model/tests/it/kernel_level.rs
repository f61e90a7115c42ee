//! Every SIMD level of this machine: the kernels agree with their twins at each, and with each other to the bit.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the file to which a run of the kernel tests writes what the fused kernels gave.
const BITS: &str = "PACE_TEST_BITS";

/// Writes a fingerprint of `values` if this is one of the runs below.
pub fn record<'a>(values: impl IntoIterator<Item = &'a f32>) {
    let Some(path) = std::env::var_os(BITS) else { return };
    // FNV-1a, on whole numbers.
    let hash = values.into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3)
    });
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the file of fingerprints");
    file.write_all(format!("{hash:016x}\n").as_bytes()).expect("the file of fingerprints");
}

/// The levels that this CPU has, by the names of `PACE_SIMD`.
fn levels() -> Vec<&'static str> {
    let mut levels = vec!["portable"];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        levels.push("v3");
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        if wide && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq") {
            levels.push("v4");
        }
    }
    #[cfg(target_arch = "aarch64")]
    levels.push("neon");
    levels
}

/// Runs the other kernel tests at a level; returns the fingerprints of all cases, sorted, for tests run side by side.
fn run(level: &str, folder: &Path) -> Vec<String> {
    let bits: PathBuf = folder.join(format!("pace-bits-{}-{level}", std::process::id()));
    let tests = Command::new(std::env::current_exe().expect("this program"))
        .args(["kernel", "golden", "--skip", "kernel_level"])
        .env("PACE_SIMD", level)
        .env(BITS, &bits)
        .output()
        .expect("this program starts again");
    let said = String::from_utf8_lossy(&tests.stdout);
    assert!(tests.status.success(), "at level {level}: {said}\n{}", String::from_utf8_lossy(&tests.stderr));
    let text = std::fs::read_to_string(&bits).expect("fingerprints were written");
    std::fs::remove_file(&bits).expect("ours to remove");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn levels_agree_with_the_twins_and_to_the_bit_with_each_other() {
    let folder = std::env::temp_dir();
    let mut known: Option<Vec<String>> = None;
    for level in levels() {
        let bits = run(level, &folder);
        // Fewer if `PROPTEST_CASES` says so, as under sanitizers.
        assert!(bits.len() > 500, "only {} cases were recorded at {level}", bits.len());
        match &known {
            None => known = Some(bits),
            Some(known) => {
                let differing = known.iter().zip(&bits).filter(|(known, bits)| known != bits).count();
                assert!(*known == bits, "{level} differs from portable in {differing} of {} cases", bits.len());
            }
        }
    }
}

#[test]
fn a_level_that_the_cpu_lacks_is_an_error() {
    let tests = Command::new(std::env::current_exe().expect("this program"))
        .args(["kernel::add_norm", "--exact"])
        .env("PACE_SIMD", "v9")
        .output()
        .expect("this program starts again");
    assert!(!tests.status.success());
    let said = format!("{}{}", String::from_utf8_lossy(&tests.stdout), String::from_utf8_lossy(&tests.stderr));
    assert!(said.contains("PACE_SIMD=v9 is no level of this CPU; it has"), "{said}");
}
