//! `cargo xtask setup`: brings a machine with Rust, a C compiler and python3 to the point where the workspace builds.
//!
//! One thing is usually missing: libclang, with which bindgen reads nauty's C headers. It is looked for; if absent it is
//! installed as a Debian package if we may, else as a Python wheel below `target/`. Each step says what it does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::{capture, run as run_command, show};
use crate::libclang::Libclang;
use crate::root::workspace_root;
use crate::venv::Venv;

/// The Debian package; it brings clang's own headers along.
const DEBIAN_PACKAGE: &str = "libclang-dev";
/// The Python wheel; nauty-Traces-sys is known to build with this version.
const WHEEL: &str = "libclang==18.1.1";

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Say what would be done (apt-get in simulation) and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What the set-up may do to the machine.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Whether a missing system package may be installed.
    pub system_install: bool,
    /// Whether to only say what would be done.
    pub dry_run: bool,
}

/// What child processes need in their environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: Vec<(&'static str, OsString)>,
}

impl Environment {
    /// Name and value, for [`Command::envs`].
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &OsString)> {
        self.variables.iter().map(|(name, value)| (*name, value))
    }

    /// The variables for `libclang`; `gcc_include` holds the compiler's `stddef.h`.
    ///
    /// `extra` is what the user already has in `BINDGEN_EXTRA_CLANG_ARGS`; it is kept.
    fn for_libclang(libclang: &Libclang, gcc_include: Option<&Path>, extra: Option<OsString>) -> Environment {
        let mut variables = vec![("LIBCLANG_PATH", libclang.dir.clone().into_os_string())];
        if let Some(include) = gcc_include.filter(|_| !libclang.own_headers) {
            let mut flag = OsString::from("-I");
            flag.push(include);
            let mut args = extra.unwrap_or_default();
            if !args.to_string_lossy().contains(&*flag.to_string_lossy()) {
                if !args.is_empty() {
                    args.push(" ");
                }
                args.push(flag);
            }
            variables.push(("BINDGEN_EXTRA_CLANG_ARGS", args));
        }
        Environment { variables }
    }
}

/// Does the set-up and prints the exports on standard output, so that `eval "$(cargo xtask setup)"` works.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let environment = ensure(Policy { dry_run: args.dry_run, ..policy })?;
    for (name, value) in environment.variables() {
        println!("export {name}='{}'", value.to_string_lossy().replace('\'', r"'\''"));
    }
    if environment != Environment::default() {
        eprintln!("setup: ready; the exports are for plain cargo, `cargo xtask` does not need them");
    }
    Ok(())
}

/// Finds or installs libclang and returns the environment that builds need.
pub fn ensure(policy: Policy) -> Result<Environment> {
    if let Some(libclang) = find(&workspace_root()) {
        return environment(&libclang);
    }
    eprintln!("setup: no libclang on this machine; bindgen needs it to read the C headers of nauty (graph symmetries)");
    if policy.dry_run {
        return dry_run(policy).map(|()| Environment::default());
    }
    let libclang = match install_package(policy) {
        Ok(libclang) => libclang,
        Err(reason) => {
            eprintln!("setup: not as a system package: {reason:#}");
            install_wheel(&workspace_root()).with_context(remedy)?
        }
    };
    environment(&libclang)
}

fn remedy() -> String {
    format!(
        "could not get libclang; install it yourself and run the command again (Debian: `apt-get install \
         {DEBIAN_PACKAGE}`, Fedora: `dnf install clang-devel`, macOS: `brew install llvm`), or let LIBCLANG_PATH name \
         the folder that holds it"
    )
}

/// `LIBCLANG_PATH`, then the usual places, then `llvm-config`, then the wheel of an earlier set-up.
fn find(root: &Path) -> Option<Libclang> {
    if let Some(path) = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from) {
        if let Some(libclang) = Libclang::named_by(&path) {
            return Some(libclang);
        }
        eprintln!("setup: LIBCLANG_PATH names {}, which holds no libclang; looking elsewhere", path.display());
    }
    let llvm = capture(Command::new("llvm-config").arg("--libdir")).ok().map(|dir| PathBuf::from(dir.trim()));
    Libclang::search(Path::new("/"), llvm.as_slice()).or_else(|| Libclang::in_python(&wheel_dir(root)))
}

/// The environment for `libclang`; asks gcc for its headers only if clang's are missing.
fn environment(libclang: &Libclang) -> Result<Environment> {
    let gcc_include = if libclang.own_headers { None } else { Some(gcc_include()?) };
    let extra = std::env::var_os("BINDGEN_EXTRA_CLANG_ARGS");
    Ok(Environment::for_libclang(libclang, gcc_include.as_deref(), extra))
}

/// The folder with gcc's `stddef.h`.
fn gcc_include() -> Result<PathBuf> {
    let printed = capture(Command::new("gcc").arg("-print-file-name=include"))
        .context("this libclang comes without C headers and gcc could not be asked for its own; install gcc")?;
    let dir = PathBuf::from(printed.trim());
    // gcc answers with the bare word when it knows no such folder.
    if !dir.join("stddef.h").is_file() {
        bail!("gcc names {} for its headers, but stddef.h is not there; reinstall gcc", dir.display());
    }
    Ok(dir)
}

/// Installs libclang as a Debian package.
fn install_package(policy: Policy) -> Result<Libclang> {
    install_packages(policy, &[DEBIAN_PACKAGE])?;
    Libclang::search(Path::new("/"), &[])
        .with_context(|| format!("{DEBIAN_PACKAGE} is installed but holds no libclang"))
}

/// Installs Debian packages, as root or through a sudo that asks nothing.
pub fn install_packages(policy: Policy, packages: &[&str]) -> Result<()> {
    let mut install = apt_get(policy)?;
    install.args(["install", "-y", "--no-install-recommends"]).args(packages);
    eprintln!("setup: installing from Debian: {}, about a minute: {}", packages.join(" "), show(&install));
    if !package_lists_exist(Path::new("/var/lib/apt/lists")) || run_quietly(&mut install).is_err() {
        eprintln!("setup: fetching the package lists first");
        run_quietly(apt_get(policy)?.arg("update"))?;
        run_quietly(&mut install)?;
    }
    Ok(())
}

/// An `apt-get` that may install, or the reason why there is none.
fn apt_get(policy: Policy) -> Result<Command> {
    if !policy.system_install {
        bail!("--no-system-install was given");
    }
    capture(Command::new("apt-get").arg("--version")).context("this machine has no apt-get")?;
    let is_root = capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = Command::new(if is_root { "env" } else { "sudo" });
    if !is_root {
        capture(Command::new("sudo").args(["-n", "true"])).context("we are not root and sudo would ask")?;
        command.args(["-n", "env"]);
    }
    // By way of env, because sudo does not hand variables on.
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    Ok(command)
}

/// A fresh container has no package lists; then `apt-get install` cannot know any package.
fn package_lists_exist(dir: &Path) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
}

/// Runs without the two hundred lines of a package manager; its complaints end up in the error.
fn run_quietly(command: &mut Command) -> Result<()> {
    capture(command).map(|_| ())
}

fn wheel_dir(root: &Path) -> PathBuf {
    root.join("target/setup/venv")
}

/// Installs the wheel in its own environment, or with `pip --target` if python3 lacks venv.
fn install_wheel(root: &Path) -> Result<Libclang> {
    let dir = wheel_dir(root);
    eprintln!("setup: taking libclang from the Python wheel {WHEEL}, only for this checkout");
    if let Err(reason) = Venv::ensure(&dir, &[WHEEL]) {
        eprintln!("setup: {reason:#}");
        eprintln!("setup: trying pip without an environment");
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&dir).arg(WHEEL);
        run_command(&mut pip)?;
    }
    Libclang::in_python(&dir).with_context(|| format!("{WHEEL} left no libclang in {}", dir.display()))
}

/// Says what would be done; apt-get answers in simulation, so a broken package source shows here too.
fn dry_run(policy: Policy) -> Result<()> {
    match apt_get(policy) {
        Ok(mut install) => {
            install.args(["install", "-y", "--no-install-recommends", "--simulate", DEBIAN_PACKAGE]);
            eprintln!("setup: would install the Debian package; simulating: {}", show(&install));
            let log = capture(&mut install)?;
            log.lines().filter(|line| line.starts_with("Inst ")).for_each(|line| eprintln!("setup: {line}"));
        }
        Err(reason) => {
            eprintln!("setup: not as a system package: {reason:#}");
            eprintln!("setup: would install the Python wheel {WHEEL} in {}", wheel_dir(&workspace_root()).display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    fn libclang(own_headers: bool) -> Libclang {
        Libclang { dir: "/somewhere/native".into(), own_headers }
    }

    fn extra_args(environment: &Environment) -> Option<String> {
        let (_, value) = environment.variables().find(|(name, _)| *name == "BINDGEN_EXTRA_CLANG_ARGS")?;
        Some(value.to_string_lossy().into_owned())
    }

    #[test]
    fn a_complete_libclang_needs_only_its_path() {
        let environment = Environment::for_libclang(&libclang(true), Some(Path::new("/gcc/include")), None);
        let names: Vec<_> = environment.variables().map(|(name, _)| name).collect();
        assert_eq!(names, ["LIBCLANG_PATH"]);
    }

    #[test]
    fn a_bare_libclang_borrows_the_headers_of_gcc_once() {
        let include = Some(Path::new("/gcc/include"));
        let args = |extra: Option<&str>| {
            extra_args(&Environment::for_libclang(&libclang(false), include, extra.map(OsString::from)))
        };
        assert_eq!(args(None).as_deref(), Some("-I/gcc/include"));
        assert_eq!(args(Some("-DX")).as_deref(), Some("-DX -I/gcc/include"));
        assert_eq!(args(Some("-I/gcc/include")).as_deref(), Some("-I/gcc/include"));
    }

    #[test]
    fn package_lists() {
        let dir = test_dir("apt-lists");
        assert!(!package_lists_exist(&dir));
        assert!(!package_lists_exist(&dir.join("absent")));
        std::fs::write(dir.join("mirror_dists_stable_main_binary-amd64_Packages.lz4"), "").unwrap();
        assert!(package_lists_exist(&dir));
    }
}
