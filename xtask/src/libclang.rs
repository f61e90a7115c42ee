//! Where a libclang may lie, and whether clang's own headers lie next to it.
//!
//! Pure search on a file tree: everything starts from a root folder, so that the tests can build small ones.

use std::path::{Path, PathBuf};

/// A folder with libclang in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libclang {
    /// What `LIBCLANG_PATH` has to name.
    pub dir: PathBuf,
    /// Whether libclang will find `stddef.h` and its like by itself. The Python wheel ships none of them.
    pub own_headers: bool,
}

impl Libclang {
    /// The libclang in `dir`, if there is one.
    pub fn in_dir(dir: &Path) -> Option<Libclang> {
        let has_library =
            list(dir).iter().any(|path| path.file_name().is_some_and(|name| is_libclang(&name.to_string_lossy())));
        has_library.then(|| Libclang { dir: dir.to_path_buf(), own_headers: has_own_headers(dir) })
    }

    /// The libclang that a `LIBCLANG_PATH` names: a folder, or the library itself.
    pub fn named_by(path: &Path) -> Option<Libclang> {
        if path.is_file() { path.parent().and_then(Libclang::in_dir) } else { Libclang::in_dir(path) }
    }

    /// Searches the usual places below `root` (`/` outside tests) and then `more` folders.
    ///
    /// A libclang with its own headers wins over one without; otherwise the order of the places decides.
    pub fn search(root: &Path, more: &[PathBuf]) -> Option<Libclang> {
        let places = usual_places(root).into_iter().chain(more.iter().cloned());
        let found: Vec<Libclang> = places.filter_map(|dir| Libclang::in_dir(&dir)).collect();
        found.iter().find(|libclang| libclang.own_headers).or(found.first()).cloned()
    }

    /// The libclang of a Python environment that holds the `libclang` wheel, laid out by `venv` or by `pip --target`.
    pub fn in_python(environment: &Path) -> Option<Libclang> {
        let site_packages =
            list(&environment.join("lib")).into_iter().map(|python| python.join("site-packages/clang/native"));
        site_packages.chain([environment.join("clang/native")]).find_map(|dir| Libclang::in_dir(&dir))
    }
}

/// Whether a file name is libclang's: `libclang.so`, `libclang.so.18`, `libclang-14.so.1`, `libclang.dylib`.
///
/// `libclang-cpp.so.14` is the C++ interface, a different library that LLVM installs without the other.
fn is_libclang(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libclang") else { return false };
    let version = rest.strip_prefix('-').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let suffix = match version {
        // `trim` also took the dot of `.so`.
        Some(after) => after,
        None => rest.strip_prefix('.').unwrap_or("?"),
    };
    suffix == "dylib" || suffix == "so" || suffix.starts_with("so.")
}

/// libclang looks for its headers in `clang/<version>/include` next to itself (Fedora: in the `lib` next to `lib64`).
fn has_own_headers(dir: &Path) -> bool {
    let resources = [dir.join("clang"), dir.join("../lib/clang")];
    resources.iter().flat_map(|clang| list(clang)).any(|version| version.join("include/stddef.h").is_file())
}

/// Debian, Fedora, Arch, Homebrew and Xcode; newest LLVM first.
fn usual_places(root: &Path) -> Vec<PathBuf> {
    let mut versioned: Vec<(u32, PathBuf)> = list(&root.join("usr/lib"))
        .into_iter()
        .filter_map(|dir| {
            let name = dir.file_name()?.to_str()?;
            let version = name.strip_prefix("llvm-").or(name.strip_prefix("llvm"))?;
            Some((version.parse().ok()?, dir.join("lib")))
        })
        .collect();
    versioned.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let multiarch = list(&root.join("usr/lib")).into_iter().filter(|dir| dir.to_string_lossy().contains("-linux-"));
    let fixed = [
        "usr/lib64",
        "usr/lib",
        "usr/local/lib",
        "opt/homebrew/opt/llvm/lib",
        "usr/local/opt/llvm/lib",
        "Library/Developer/CommandLineTools/usr/lib",
        "Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib",
    ];
    let versioned = versioned.into_iter().map(|(_, dir)| dir);
    versioned.chain(multiarch).chain(fixed.iter().map(|dir| root.join(dir))).collect()
}

/// The entries of a folder, sorted; none if it cannot be read.
fn list(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    fn touch(path: PathBuf) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn names() {
        for name in [
            "libclang.so",
            "libclang.so.1",
            "libclang-14.so.1",
            "libclang-18.so",
            "libclang-14.so.14.0.6",
            "libclang.dylib",
        ] {
            assert!(is_libclang(name), "{name}");
        }
        for name in [
            "libclang-cpp.so.14",
            "libclang-cpp.so",
            "libclang_rt.so",
            "libclang.a",
            "libclangAST.a",
            "clang.so",
            "libclang",
        ] {
            assert!(!is_libclang(name), "{name}");
        }
    }

    #[test]
    fn nothing_and_only_the_cpp_interface() {
        let root = test_dir("libclang-none");
        assert_eq!(Libclang::search(&root, &[]), None);
        touch(root.join("usr/lib/llvm-14/lib/libclang-cpp.so.14"));
        touch(root.join("usr/lib/x86_64-linux-gnu/libclang-cpp.so.14"));
        assert_eq!(Libclang::search(&root, &[]), None);
    }

    #[test]
    fn debian_prefers_the_newest_with_headers() {
        let root = test_dir("libclang-debian");
        touch(root.join("usr/lib/x86_64-linux-gnu/libclang-14.so.1"));
        let bare = Libclang::search(&root, &[]).unwrap();
        assert_eq!((bare.dir.ends_with("x86_64-linux-gnu"), bare.own_headers), (true, false));
        for version in ["9", "14"] {
            touch(root.join(format!("usr/lib/llvm-{version}/lib/libclang.so.1")));
            touch(root.join(format!("usr/lib/llvm-{version}/lib/clang/{version}/include/stddef.h")));
        }
        touch(root.join("usr/lib/llvm-20/lib/libclang.so.1"));
        let best = Libclang::search(&root, &[]).unwrap();
        assert_eq!(best, Libclang { dir: root.join("usr/lib/llvm-14/lib"), own_headers: true });
    }

    #[test]
    fn fedora_keeps_headers_in_lib() {
        let root = test_dir("libclang-fedora");
        touch(root.join("usr/lib64/libclang.so.18.1"));
        touch(root.join("usr/lib/clang/18/include/stddef.h"));
        assert_eq!(Libclang::search(&root, &[]), Some(Libclang { dir: root.join("usr/lib64"), own_headers: true }));
    }

    #[test]
    fn a_named_file_or_folder_and_the_wheel() {
        let root = test_dir("libclang-wheel");
        let native = root.join("lib/python3.11/site-packages/clang/native");
        touch(native.join("libclang.so"));
        let wheel = Some(Libclang { dir: native.clone(), own_headers: false });
        assert_eq!(Libclang::named_by(&native), wheel);
        assert_eq!(Libclang::named_by(&native.join("libclang.so")), wheel);
        assert_eq!(Libclang::named_by(&root), None);
        assert_eq!(Libclang::in_python(&root), wheel);
        assert_eq!(Libclang::search(&root, &[native]), wheel);
    }
}
